// SPDX-License-Identifier: Apache-2.0
// What stream_source does about events that are too large.
#include "sources/mongodb/streaming/stream_source.hpp"

#include <bit>

namespace cdc::mongodb::streaming {

namespace asio = boost::asio;

std::unique_ptr<stream_batch> stream_source::make_batch(fetched taken) {
    const bool splits = features_.split() || fragments_.pending();
    auto out = splits ? std::make_unique<stream_batch>(std::move(taken.reply), std::move(taken.end),
                                                       filters_, settings_.target, fragments_)
                      : std::make_unique<stream_batch>(std::move(taken.reply), std::move(taken.end),
                                                       filters_, settings_.target);
    skipped_ += out->skipped();
    for (const auto& event : out->oversized()) {
        ++oversized_;
        if (std::has_single_bit(oversized_))
            logger_.warn("left out because of cursor.oversize.skip.threshold, {} events so far: {}",
                         oversized_, event);
        else
            logger_.debug("left out because of cursor.oversize.skip.threshold: {}", event);
    }
    return out;
}

asio::awaitable<error::result<event_outline>> stream_source::find_next() {
    auto at = progress_.next_opening(features_.start_after());
    in_flight_ = flight::other;
    auto found = co_await find_next_event(*runner_, settings_.target, std::move(at), filters_);
    in_flight_ = flight::none;
    co_return found;
}

asio::awaitable<std::string> stream_source::name_next() {
    const auto event = co_await find_next();
    std::string out = event ? ": " + event->describe() : ": the event behind the position";
    co_return out + "; see cursor.oversize.handling.mode";
}

asio::awaitable<bool> stream_source::handle_too_large(error::diagnostics& d) {
    switch (oversize_.on_too_large()) {
    case cursor::oversize_policy::step::read_singly:
        logger_.info("change stream of {}: an event is larger than the server can send; those in "
                     "front of it are read one by one",
                     settings_.target.describe());
        ++reopened_;
        co_return true;
    case cursor::oversize_policy::step::attempt:
        co_return false;
    case cursor::oversize_policy::step::pass_by:
        break;
    }
    auto event = co_await find_next();
    if (!event) {
        d = std::move(event).error();
        co_return false;
    }
    // The server has found the position, or it would not have come upon what lies behind it.
    auto ready = co_await announce_start();
    if (ready)
        ready = co_await wait_for_room();
    if (!ready) {
        d = std::move(ready).error();
        co_return false;
    }
    if (cancelled_ || failed_)
        co_return true;
    ++oversized_;
    ++skipped_;
    ++reopened_;
    logger_.warn("skipped because it is larger than the server can send, {} events so far: {}",
                 oversized_, event->describe());
    progress_.on_passed(event->position);
    policy_.on_progress();
    oversize_.on_passed();
    hand_over({}, std::move(event->position));
    co_return true;
}

} // namespace cdc::mongodb::streaming
