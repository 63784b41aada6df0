// SPDX-License-Identifier: Apache-2.0
// What stream_source does where nothing is stored, and between two reads.
#include "sources/mongodb/streaming/gap_batch.hpp"
#include "sources/mongodb/streaming/stream_source.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace cdc::mongodb::streaming {

namespace asio = boost::asio;

namespace {

constexpr int unauthorized = 13;

} // namespace

asio::awaitable<error::result<void>> stream_source::choose_start() {
    // Anew with every opening, because the oldest entry moves.
    progress_ = stream_progress();
    beginning_.reset();
    const auto known = co_await oplog();
    if (!known)
        co_return known.error();
    auto opening = settings_.start.resolve(*known);
    if (!opening)
        co_return std::move(opening).error();
    if (auto* token = std::get_if<event::position>(&*opening))
        progress_ = stream_progress(std::move(*token));
    else if (const auto* time = std::get_if<bson::timestamp>(&*opening))
        progress_ = stream_progress(*time);
    co_return error::result<void>{};
}

/// The place where reading begins is given out, and with that stored, only now: a stream opened at
/// a time shows with its first getMore whether the oplog reaches back to it, one opened at an event
/// as stream_progress says. A place that turns out to be lost must not be what the next start,
/// perhaps with a better one in its configuration, finds stored.
asio::awaitable<error::result<void>> stream_source::announce_start() {
    if (!beginning_)
        co_return error::result<void>{};
    auto room = co_await wait_for_room();
    if (!room)
        co_return room;
    log_opening(false);
    auto begun = std::move(*beginning_);
    beginning_.reset();
    std::optional<event::position> at;
    if (!begun.at.empty())
        at = std::move(begun.at);
    hand_over(std::move(begun.reply), std::move(at));
    anew_ = false;
    open_for_caller();
    co_return co_await wait_for_room();
}

asio::awaitable<error::result<void>> stream_source::hand_over_gap() {
    const auto& to = progress_.at();
    if (to.empty())
        co_return error::fail(
            error::errc::unsupported,
            "on.lost.position: from_now needs MongoDB 4.0.7 or later, which tells "
            "where a stream begins");
    if (to <= gap_->from)
        co_return error::fail(
            error::errc::position_lost,
            fmt::format("the lost position of {} lies ahead of the deployment's newest change {}; "
                        "positions never go back",
                        in_words(gap_->from.cluster_time()), in_words(to.cluster_time())));
    auto room = co_await wait_for_room();
    if (!room)
        co_return room;
    logger_.error("gap: the changes of {} between {} and {} are not delivered; the record that "
                  "tells so comes next, reading goes on from now",
                  settings_.target.describe(), in_words(gap_->from.cluster_time()),
                  in_words(to.cluster_time()));
    log_opening(true);
    fetched next;
    next.made = std::make_unique<gap_batch>(gap_->from, to.clone(), gap_->oplog);
    waiting_ = std::move(next);
    gap_.reset();
    ++gaps_;
    policy_.on_progress();
    consumer_.notify();
    open_for_caller();
    co_return error::result<void>{};
}

// --- The oplog's oldest entry --------------------------------------------------------------------

asio::awaitable<error::result<void>> stream_source::pass_pause() {
    while (!cancelled_ && !failed_) {
        if (must_move())
            co_return error::fail(error::errc::network, watch_->reason());
        const auto now = oplog_headroom::clock::now();
        const auto look = headroom_.next_look();
        if (look <= now) {
            auto looked = co_await look_at_oplog();
            if (!looked)
                co_return looked;
            continue;
        }
        if (!waiting_)
            break;
        if (look == oplog_headroom::clock::time_point::max())
            co_await fetcher_.wait();
        else
            co_await fetcher_.wait_for(look - now);
    }
    co_return error::result<void>{};
}

asio::awaitable<error::result<void>> stream_source::look_at_oplog() {
    in_flight_ = flight::get_more; // its end is bounded by `stop` alone, so that the cursor is kept
    const auto oldest = co_await history_.oldest();
    in_flight_ = flight::none;
    const auto now = oplog_headroom::clock::now();
    if (oldest) {
        note_oldest(*oldest);
    } else if (oldest.error().server_code == unauthorized) {
        logger_.debug("the user may not read local.oplog.rs, so it is not known how far the stored "
                      "position is from its end");
        headroom_.on_refused(now);
    } else if (oldest.error().code == error::errc::server ||
               oldest.error().code == error::errc::protocol) {
        logger_.debug("the oldest entry of the oplog could not be read: {}",
                      oldest.error().describe());
        headroom_.on_failed(now);
    } else {
        co_return oldest.error();
    }
    co_return error::result<void>{};
}

void stream_source::note_oldest(oplog_history::first_entry oldest) {
    const auto stored = stored_ == bson::timestamp{} ? progress_.at().cluster_time() : stored_;
    if (stored == bson::timestamp{}) { // not before servers of 4.0.7 have given a first event
        headroom_.on_failed(oplog_headroom::clock::now());
        return;
    }
    const auto news = headroom_.on_oldest(oldest, stored, oplog_headroom::clock::now());
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(*headroom_.value()).count();
    switch (news) {
    case oplog_headroom::news::none:
        logger_.debug("the stored position is {} s from the oplog's oldest entry", seconds);
        break;
    case oplog_headroom::news::first:
    case oplog_headroom::news::enough:
        logger_.info("the stored position is {} s from the oplog's oldest entry {}", seconds,
                     in_words(oldest.ts));
        break;
    case oplog_headroom::news::low:
        logger_.warn("the stored position {} is only {} s from the oplog's oldest entry {}: if the "
                     "connector falls back further, changes are lost; speed up its sinks or make "
                     "the oplog larger (oplog.headroom.warn.ms)",
                     in_words(stored), seconds, in_words(oldest.ts));
        break;
    }
}

asio::awaitable<error::result<std::optional<oplog_history::window>>> stream_source::oplog() {
    in_flight_ = flight::other;
    const auto known = co_await history_.whole();
    in_flight_ = flight::none;
    std::optional<oplog_history::window> out;
    if (known)
        out = *known;
    else if (known.error().server_code != unauthorized)
        co_return known.error();
    co_return out;
}

} // namespace cdc::mongodb::streaming
