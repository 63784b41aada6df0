// SPDX-License-Identifier: Apache-2.0
// What stream_source does about positions that may be lost and about errors.
#include "sources/mongodb/streaming/stream_source.hpp"

#include <fmt/format.h>

#include <bit>

namespace cdc::mongodb::streaming {

namespace asio = boost::asio;

bool stream_source::reopens_without(error::diagnostics& refused, const cursor::open_at& at) {
    const auto* position = std::get_if<event::position>(&at);
    const auto verdict =
        features_.on_opening_error(refused, position && position->is_from_invalidate());
    switch (verdict.what) {
    case cursor::stream_features::verdict::kind::unrelated:
        return false;
    case cursor::stream_features::verdict::kind::open_again:
        logger_.warn("change stream of {}: {} ({})", settings_.target.describe(), verdict.text,
                     refused.describe());
        return true;
    case cursor::stream_features::verdict::kind::fail:
        refused.code = error::errc::unsupported;
        refused.text = verdict.text;
        return false;
    }
    return false;
}

/// The server takes a time before its set's own first entry for one that it still knows everything
/// since. After the set was made anew (same name, new history) that hides a gap.
asio::awaitable<error::result<void>> stream_source::compare_with_oplog() {
    const auto since = progress_.at().cluster_time();
    in_flight_ = flight::other;
    const auto oplog = co_await history_.whole();
    in_flight_ = flight::none;
    if (!oplog) {
        // Where the user may not read the oplog the server's word has to do.
        if (oplog.error().code == error::errc::server ||
            oplog.error().code == error::errc::protocol)
            co_return error::result<void>{};
        co_return oplog.error();
    }
    if (since == bson::timestamp{} || oplog->oldest <= since)
        co_return error::result<void>{};
    auto lost = error::fail(error::errc::server, "the oplog begins behind the position");
    lost.server_code = 286; // as the server answers to every other position before its oplog
    lost.server_code_name = "ChangeStreamHistoryLost";
    co_return lost;
}

asio::awaitable<error::result<void>> stream_source::prove() {
    const auto since = progress_.at().cluster_time();
    if (since == bson::timestamp{})
        co_return error::result<void>{}; // unknown time: only an event can prove anything
    in_flight_ = flight::other;
    auto there = co_await history_.reaches_back_to(since);
    in_flight_ = flight::none;
    if (there) {
        logger_.debug("the oplog reaches back to the position's time {}", in_words(since));
        progress_.on_proved();
    }
    co_return there;
}

asio::awaitable<bool> stream_source::recover(cursor::phase where, error::diagnostics d) {
    if (cancelled_)
        co_return false;
    const auto action = policy_.on_error(where, d);
    switch (action.what) {
    case cursor::resume_action::kind::retry:
        break;
    case cursor::resume_action::kind::position_dead: {
        in_flight_ = flight::other;
        const auto range = co_await history_.range();
        in_flight_ = flight::none;
        d.code = error::errc::position_lost;
        d.text = fmt::format("the position of {} is lost, changes behind it can no longer be read "
                             "(oplog: {}): {}",
                             progress_.at().empty() ? std::string("unknown time")
                                                    : in_words(progress_.at().cluster_time()),
                             range, action.text);
        end_with(std::move(d));
        co_return false;
    }
    case cursor::resume_action::kind::fail:
        d.text = action.text;
        if (!progress_.at().empty())
            d.text += fmt::format(" (position: {})", in_words(progress_.at().cluster_time()));
        end_with(std::move(d));
        co_return false;
    }
    if (std::has_single_bit(policy_.failures()))
        logger_.warn("change stream of {}: {}; attempt {} to go on follows in {} ms",
                     settings_.target.describe(), d.describe(), policy_.failures(),
                     action.delay.count());
    troubled_ = true;
    if (action.reconnect) {
        connected_ = false;
        cursor_.forget();
    }
    ++reopened_;
    co_await pause(action.delay);
    co_return !cancelled_ && !failed_;
}

void stream_source::move() {
    logger_.info("change stream of {}: {}; moves to the primary", settings_.target.describe(),
                 watch_->reason());
    policy_.on_moved();
    troubled_ = true;
    connected_ = false;
    cursor_.forget();
    ++reopened_;
    ++moved_;
    watch_->leave(session_.current());
}

asio::awaitable<void> stream_source::pause(std::chrono::milliseconds delay) {
    const auto until = std::chrono::steady_clock::now() + delay;
    while (!cancelled_ && !failed_) {
        const auto left = until - std::chrono::steady_clock::now();
        if (left <= left.zero())
            break;
        co_await fetcher_.wait_for(left);
    }
}

} // namespace cdc::mongodb::streaming
