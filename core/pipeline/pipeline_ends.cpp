// SPDX-License-Identifier: Apache-2.0
// The two ends of a pipeline's life: opening and winding down.
#include "core/pipeline/sink_lane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cdc::pipeline {

namespace asio = boost::asio;
using error::errc;
using clock = std::chrono::steady_clock;

asio::awaitable<error::result<void>> pipeline::open() {
    auto starts = co_await offsets_.load();
    if (!starts)
        co_return starts.error();
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        if (stop_requested_)
            co_return error::fail(errc::cancelled, "cancelled");
        lanes_[i]->window = ack_window(starts->sinks[i].clone());
        lanes_[i]->started = true;
        auto r = co_await lanes_[i]->sink->start();
        if (!r) {
            auto d = r.error();
            d.text = fmt::format("sink {}: {}", lanes_[i]->name, d.text);
            co_return d;
        }
    }
    if (const auto& transaction = starts->read_from.transaction())
        for (const auto& encoder : parts_.encoders)
            if (auto restored = encoder->restore(*transaction); !restored)
                co_return restored;
    slicer_.emplace(parts_.encoders, std::move(starts->sinks), options_.slice);

    if (stop_requested_)
        co_return error::fail(errc::cancelled, "cancelled");
    source_started_ = true;
    auto from = std::move(starts->read_from);
    starts_anew_ = from.empty();
    auto r = co_await parts_.source->start(std::move(from));
    if (!r && r.error().code == errc::cancelled)
        co_return r;
    // Also when the source has refused the position: that it belongs to another replica set is then
    // the more useful reason.
    auto identity = parts_.identity ? parts_.identity() : std::string{};
    if (!identity.empty()) {
        auto same = co_await offsets_.check_identity(std::move(identity));
        if (!same)
            co_return same;
    }
    co_return r;
}

asio::awaitable<void> pipeline::await_pumps() {
    bool cut = false;
    while (pumps_running_ > 0) {
        const auto left = *deadline_ - clock::now();
        if (left > clock::duration::zero()) {
            co_await progress_.wait_for(left);
            continue;
        }
        if (!cut) {
            cut = true;
            queue_.cancel();
            for (auto& lane : lanes_)
                lane->sink->cancel();
        }
        co_await progress_.wait();
    }
    co_await pumps_.join();
}

asio::awaitable<void> pipeline::wind_down() {
    parts_.source->cancel();
    queue_.close();
    if (!deadline_)
        deadline_ = clock::now() + options_.failure_drain;
    co_await await_pumps();

    flusher_ending_ = true;
    flusher_wake_.notify();
    co_await flusher_.join();
    for (int attempt = 1;; ++attempt) {
        auto saved = co_await save_positions();
        if (saved)
            break;
        if (attempt == 2) {
            fail(saved.error());
            break;
        }
    }

    for (auto& lane : lanes_) {
        if (!lane->started)
            continue;
        lane->sink->cancel();
        co_await lane->sink->stop();
    }
    if (source_started_)
        co_await parts_.source->stop();
    queue_.cancel();
    ended_ = true;
    if (state_ == connector_state::failed) {
        if (parts_.changed)
            parts_.changed();
    } else {
        set_state(connector_state::stopped);
    }
}

asio::awaitable<pipeline::summary> pipeline::stop(clock::time_point deadline) {
    stop_requested_ = true;
    if (!started_) {
        started_ = ended_ = true;
        set_state(connector_state::stopped);
    }
    if (!ended_) {
        deadline_ = deadline_ ? std::min(*deadline_, deadline) : deadline;
        parts_.source->cancel();
        queue_.close();
        if (state_ == connector_state::starting) // nothing to deliver, so nothing to wait for
            for (auto& lane : lanes_)
                lane->sink->cancel();
        set_state(connector_state::stopping);
        progress_.notify();
    }
    co_await tasks_.join();
    summary out;
    for (const auto& lane : lanes_)
        out.sinks.push_back(
            {lane->name, lane->window.acknowledged() - lane->had, lane->window.pending()});
    out.error = error_;
    co_return out;
}

} // namespace cdc::pipeline
