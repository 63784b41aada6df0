// SPDX-License-Identifier: Apache-2.0
// What stream_source does about positions that may be lost and about errors.
#include "sources/mongodb/streaming/stream_source.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace cdc::mongodb::streaming {

namespace asio = boost::asio;

namespace {

constexpr int capped_position_lost = 136;
constexpr int fatal_error = 280;
constexpr int history_lost = 286;

bool is_broken(const error::diagnostics& d) {
    return d.code != error::errc::server && d.code != error::errc::protocol;
}

} // namespace

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
    if (since == bson::timestamp{} || oplog->oldest <= since) {
        note_oldest({oplog->oldest, oplog->complete});
        co_return error::result<void>{};
    }
    auto lost = error::fail(error::errc::server, "the oplog begins behind the position");
    lost.server_code =
        history_lost; // as the server answers to every other position before its oplog
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

constexpr int event_too_large = 10334; // BSONObjectTooLarge

asio::awaitable<bool> stream_source::recover(cursor::phase where, error::diagnostics d) {
    if (cancelled_)
        co_return false;
    const bool too_large = where == cursor::phase::get_more && d.server_code == event_too_large;
    if (too_large) {
        const bool again = co_await handle_too_large(d);
        if (again)
            co_return !cancelled_ && !failed_;
    }
    const auto action = policy_.on_error(where, d);
    switch (action.what) {
    case cursor::resume_action::kind::retry:
        break;
    case cursor::resume_action::kind::position_dead:
        co_return co_await recover_lost(std::move(d), std::move(action.text));
    case cursor::resume_action::kind::position_refused:
        d.code = error::errc::position_lost;
        d.text = fmt::format("{}: {}",
                             anew_ ? settings_.start.describe()
                                   : fmt::format("the stored position of {} (token {})",
                                                 in_words(progress_.at().cluster_time()),
                                                 progress_.at().data()),
                             action.text);
        end_with(std::move(d));
        co_return false;
    case cursor::resume_action::kind::fail:
        d.text = action.text;
        if (too_large && d.server_code == event_too_large) {
            const auto event = co_await name_next();
            d.text += event;
        }
        if (!progress_.at().empty())
            d.text += fmt::format(" (position: {})", in_words(progress_.at().cluster_time()));
        end_with(std::move(d));
        co_return false;
    }
    if (std::has_single_bit(policy_.failures()))
        logger_.warn("change stream of {}: {}; attempt {} to go on follows in {} ms",
                     settings_.target.describe(), d.describe(), policy_.failures(),
                     action.delay.count());
    note_trouble(d);
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
    note_trouble(error::fail(error::errc::network, watch_->reason()));
    connected_ = false;
    cursor_.forget();
    ++reopened_;
    ++moved_;
    watch_->leave(session_.current());
}

asio::awaitable<bool> stream_source::recover_lost(error::diagnostics d, std::string why) {
    constexpr unsigned most_races = 3;
    if (anew_ && settings_.start.is_oldest() && ++start_races_ < most_races) {
        logger_.info("the oldest entry left the oplog while the stream was opened there; looks for "
                     "the next one");
        co_return true;
    }
    std::optional<oplog_history::window> window;
    auto known = co_await oplog();
    if (known)
        window = *known;
    else if (is_broken(known.error()))
        co_return co_await recover(cursor::phase::get_more, std::move(known).error());
    const auto since = progress_.at().cluster_time();
    lost_position lost;
    lost.server_code = d.server_code;
    lost.at_its_time = progress_.is_at_its_time();
    lost.is_fragment = cursor::split_event::is_fragment_token(progress_.at().data());
    lost.is_start = anew_;
    lost.oplog_known = window.has_value();
    if (lost.server_code == fatal_error) {
        auto within = co_await is_within(window, since);
        if (!within)
            co_return co_await recover(cursor::phase::get_more, std::move(within).error());
        lost.within_oplog = *within;
    }
    const auto range = in_words(window);
    const auto position = progress_.at().empty() ? std::string("unknown time") : in_words(since);
    d.code = error::errc::position_lost;
    switch (answer_to_loss(settings_.on_loss, lost)) {
    case loss_answer::fail:
        break;
    case loss_answer::go_on_from_now:
        logger_.error("the position of {} (token {}) is lost, changes behind it can no longer be "
                      "read (oplog: {}): {}; goes on from now, as on.lost.position says",
                      position, progress_.at().data(), range, why);
        gap_.emplace(gap{progress_.at().clone(), window});
        progress_ = stream_progress();
        ++reopened_;
        co_return true;
    case loss_answer::read_again_from_time:
        logger_.warn("the server does not find the event of the position of {} (token {}), though "
                     "its oplog reaches back to it ({}): reads again from that time on, as {}",
                     position, progress_.at().data(), range,
                     lost.is_fragment ? "the event was split, and is no longer as it was"
                                      : "on.token.not.found says");
        progress_.open_at_its_time();
        ++reopened_;
        co_return true;
    }
    if (lost.is_start)
        d.text = fmt::format("{} cannot be used: {} (oplog: {})", settings_.start.describe(), why,
                             range);
    else if (lost.server_code == fatal_error && lost.within_oplog.value_or(false))
        d.text =
            fmt::format("the server does not find the event of the position of {} (token {}), "
                        "though {} ({}): is it another deployment with the same set name? "
                        "on.token.not.found: from_time reads again from that time on{}",
                        position, progress_.at().data(),
                        window ? "its oplog reaches back to it" : "it opens a stream at that time",
                        range, window ? "" : ", if the user may read local.oplog.rs");
    else
        d.text = fmt::format("the position of {} is lost, changes behind it can no longer be read "
                             "(oplog: {}): {} (token {})",
                             position, range, why, progress_.at().data());
    end_with(std::move(d));
    co_return false;
}

/// Errors: those of a broken connection, over which nothing was found out.
asio::awaitable<error::result<std::optional<bool>>>
stream_source::is_within(std::optional<oplog_history::window> oplog, bson::timestamp since) {
    std::optional<bool> out;
    if (since == bson::timestamp{})
        co_return out;
    if (oplog) {
        out = oplog->oldest <= since;
        co_return out;
    }
    in_flight_ = flight::other;
    const auto there = co_await history_.reaches_back_to(since);
    in_flight_ = flight::none;
    if (there)
        out = true;
    else if (is_broken(there.error()))
        co_return there.error();
    else if (there.error().server_code == history_lost ||
             there.error().server_code == capped_position_lost)
        out = false;
    co_return out;
}

asio::awaitable<void> stream_source::pause(std::chrono::milliseconds delay) {
    const auto until = std::chrono::steady_clock::now() + delay;
    // Whoever was lost, there is a primary now.
    while (!cancelled_ && !failed_ && !must_move()) {
        const auto left = until - std::chrono::steady_clock::now();
        if (left <= left.zero())
            break;
        co_await fetcher_.wait_for(left);
    }
}

void stream_source::note_trouble(const error::diagnostics& d) {
    if (!troubled_since_)
        troubled_since_ = std::chrono::system_clock::now();
    auto shown = d;
    shown.server_text.clear(); // may hold user data
    trouble_ = shown.describe();
}

void stream_source::note_recovery() {
    if (std::exchange(troubled_since_, std::nullopt))
        logger_.info("reads changes again from {}", host_);
}

cdc::source::state stream_source::state() const {
    if (!troubled_since_ || failed_)
        return {};
    return {cdc::source::activity::reconnecting, *troubled_since_, policy_.failures(), trouble_};
}

} // namespace cdc::mongodb::streaming
