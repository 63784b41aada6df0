// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/sink_lane.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <random>
#include <utility>

namespace cdc::pipeline {

namespace asio = boost::asio;
using error::errc;
using clock = std::chrono::steady_clock;

namespace {

std::int64_t system_now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::vector<std::string> names_of(const std::vector<sink_plan>& sinks) {
    std::vector<std::string> out;
    for (const auto& s : sinks)
        out.push_back(s.name);
    return out;
}

} // namespace

pipeline::pipeline(pipeline_options options, pipeline_parts parts)
    : options_(std::move(options))
    , parts_(std::move(parts))
    , queue_(parts_.executor, options_.queue, parts_.sinks.size())
    , offsets_(*parts_.blocking, *parts_.store, options_.connector, names_of(parts_.sinks),
               parts_.logger)
    , progress_(parts_.executor)
    , flusher_wake_(parts_.executor)
    , pumps_(parts_.executor, parts_.logger)
    , flusher_(parts_.executor, parts_.logger)
    , tasks_(parts_.executor, parts_.logger) {
    if (!parts_.now_ms)
        parts_.now_ms = system_now_ms;
    for (std::size_t i = 0; i < parts_.sinks.size(); ++i) {
        const auto& plan = parts_.sinks[i];
        auto lane = std::make_unique<sink_lane>();
        lane->name = plan.name;
        lane->encoding = plan.encoding;
        assert(plan.encoding < parts_.encoders.size());
        sink::context context;
        context.executor = parts_.executor;
        context.blocking = parts_.blocking;
        context.logger = parts_.logger;
        context.connector = options_.connector;
        context.name = plan.name;
        context.acknowledge = [this, i](std::uint64_t first, std::uint64_t last) {
            acknowledge(i, first, last);
        };
        lane->sink = plan.make(std::move(context));
        lanes_.push_back(std::move(lane));
    }
}

pipeline::~pipeline() {
    assert(!started_ || ended_);
}

void pipeline::start() {
    assert(!started_);
    started_ = true;
    tasks_.spawn("connector " + options_.connector, run());
}

asio::awaitable<void> pipeline::run() {
    auto opened = co_await open();
    if (opened) {
        set_state(connector_state::running);
        pumps_running_ = lanes_.size();
        for (std::size_t i = 0; i < lanes_.size(); ++i)
            pumps_.spawn("sink " + lanes_[i]->name, run_pump(i));
        auto done = co_await read();
        if (!done)
            fail(done.error());
    } else {
        fail(opened.error());
    }
    co_await wind_down();
}

asio::awaitable<error::result<void>> pipeline::read() {
    if (!starts_anew_)
        flusher_.spawn("offset flusher", run_flusher());
    for (bool first = true;;) {
        auto space = co_await queue_.wait_for_space();
        if (!space)
            co_return space;
        auto batch = co_await parts_.source->next_batch();
        if (!batch)
            co_return batch.error();
        const auto now_ms = parts_.now_ms();
        const std::size_t count = (*batch)->events().size();
        std::size_t at = 0;
        for (;;) {
            auto slice = slicer_->next(**batch, at, now_ms);
            if (!slice)
                co_return slice.error();
            if (slice->entry) {
                auto entry = slice->entry;
                auto pushed = co_await queue_.push(std::move(entry));
                if (!pushed)
                    co_return pushed;
            }
            // In the same turn of the reactor as the push: no sink has seen the entry yet.
            take(*slice);
            if (slice->done)
                break;
            co_await asio::post(parts_.executor, asio::use_awaitable);
        }
        if (count > 0)
            last_event_time_ = (*batch)->events().back().cluster_time;
        if (first && starts_anew_) {
            // Where a first start began must be known to the next one before anything is delivered:
            // who is killed before that would start from a later now (or a later oldest entry, or
            // wherever the configuration says by then), and what came between is lost.
            auto saved = co_await save_positions();
            if (!saved)
                co_return saved;
            flusher_.spawn("offset flusher", run_flusher());
        }
        first = false;
    }
}

void pipeline::take(const slicer::slice& s) {
    events_ += s.events;
    if (s.entry) {
        records_ += s.entry->items();
        for (const auto& batch : s.entry->encodings)
            bytes_ += batch->bytes();
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        lanes_[i]->window.extend(s.last, s.positions);
        if (s.entry && s.had[i]) {
            lanes_[i]->had += s.entry->items();
            acknowledge(i, s.entry->first(), s.entry->last());
        }
    }
}

void pipeline::acknowledge(std::size_t at, std::uint64_t first, std::uint64_t last) {
    auto& lane = *lanes_[at];
    if (!lane.window.acknowledge(first, last)) {
        fail(error::fail(errc::internal,
                         fmt::format("sink {} acknowledged records {} to {} twice or without "
                                     "having been given them",
                                     lane.name, first, last)));
        return;
    }
    queue_.acknowledge(at, lane.window.acknowledged_through());
}

asio::awaitable<void> pipeline::run_pump(std::size_t at) {
    auto done = co_await pump(at);
    if (!done) {
        auto d = done.error();
        d.text = fmt::format("sink {}: {}", lanes_[at]->name, d.text);
        fail(std::move(d));
    }
    --pumps_running_;
    progress_.notify();
}

asio::awaitable<error::result<void>> pipeline::pump(std::size_t at) {
    auto& lane = *lanes_[at];
    for (;;) {
        auto entries = co_await queue_.pop(at, options_.write_bytes);
        if (!entries && entries.error().code == errc::closed)
            break;
        if (!entries)
            co_return entries.error();
        if (entries->empty()) {
            // The queue waits for acknowledgements that this sink may be saving up.
            auto flushed = co_await lane.sink->flush();
            if (!flushed)
                co_return flushed;
            continue;
        }
        std::vector<std::shared_ptr<const event::record_batch>> batches;
        batches.reserve(entries->size());
        for (const auto& entry : *entries)
            batches.push_back(entry->encodings[lane.encoding]);
        entries->clear();
        auto written = co_await lane.sink->write(std::move(batches));
        if (!written)
            co_return written;
    }
    co_return co_await lane.sink->flush();
}

asio::awaitable<void> pipeline::run_flusher() {
    retry_policy retry(options_.store_retry, std::random_device{}());
    const auto interval = std::max(options_.flush_interval, std::chrono::milliseconds{1});
    auto wait = interval;
    while (!flusher_ending_) {
        co_await flusher_wake_.wait_for(wait);
        if (flusher_ending_)
            break;
        auto saved = co_await save_positions();
        if (saved) {
            retry.reset();
            wait = interval;
            continue;
        }
        wait = retry.next();
        const auto& d = saved.error();
        if (d.code == errc::state_invalid || retry.attempts() >= options_.store_attempts) {
            fail(d);
            break;
        }
        parts_.logger.warn("positions were not stored (attempt {} of {}, again in {} ms): {}",
                           retry.attempts(), options_.store_attempts, wait.count(), d.describe());
    }
}

void pipeline::fail(error::diagnostics d) {
    const bool asked_for = d.code == errc::cancelled || d.code == errc::closed;
    if (asked_for && (stop_requested_ || error_))
        return;
    if (error_) {
        parts_.logger.warn("after the failure: {}", d.describe());
        return;
    }
    parts_.logger.error("connector {} failed: {}", options_.connector, d.describe());
    error_ = std::move(d);
    parts_.source->cancel();
    queue_.close();
    set_state(connector_state::failed);
}

void pipeline::set_state(connector_state s) {
    if (state_ == s)
        return;
    // Failed is final, and who was asked to stop while starting does not run.
    if (state_ == connector_state::failed ||
        (state_ == connector_state::stopping && s == connector_state::running))
        return;
    state_ = s;
    if (parts_.changed)
        parts_.changed();
}

asio::awaitable<error::result<void>> pipeline::save_positions() {
    auto safe = safe_positions();
    auto saved = co_await offsets_.save(std::move(safe), parts_.now_ms());
    if (const auto* lowest = offsets_.lowest(); saved && lowest)
        parts_.source->stored(*lowest);
    co_return saved;
}

std::vector<std::shared_ptr<const event::position>> pipeline::safe_positions() const {
    std::vector<std::shared_ptr<const event::position>> out;
    for (const auto& lane : lanes_)
        out.push_back(lane->window.safe());
    return out;
}

pipeline_status pipeline::status() const {
    pipeline_status out;
    out.connector = options_.connector;
    out.state = state_;
    out.ended = ended_;
    out.events = events_;
    out.records = records_;
    out.bytes = bytes_;
    out.last_event_time = last_event_time_;
    out.queue = queue_.held();
    out.queue_bounds = queue_.bounds();
    out.error = error_;
    out.source = parts_.source->status();
    for (const auto& lane : lanes_)
        out.sinks.push_back({lane->name, lane->window.acknowledged() - lane->had,
                             lane->window.pending(), lane->window.safe(), lane->sink->status()});
    return out;
}

} // namespace cdc::pipeline
