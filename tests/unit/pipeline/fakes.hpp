// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/offset/memory_store.hpp"
#include "core/pipeline/pipeline.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/wake_slot.hpp"
#include "tests/support/log_capture.hpp"
#include "tests/unit/pipeline/positions.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cdc::test {

namespace asio = boost::asio;

/// Events with the numbers first..last; `end` (0: none) is the position behind them.
class fake_batch final : public source::batch {
  public:
    fake_batch(int first, int last, int end) {
        for (int n = first; n <= last; ++n)
            tokens_.push_back(token_of(n));
        for (int n = first; n <= last; ++n) {
            event::change_event e;
            e.op = event::operation::create;
            e.db = "db";
            e.collection = "c";
            e.cluster_time = {static_cast<std::uint32_t>(n), 1};
            e.resume_token = tokens_[static_cast<std::size_t>(n - first)];
            events_.push_back(e);
        }
        if (end > 0)
            end_ = place(end);
    }
    const std::vector<event::change_event>& events() const noexcept override { return events_; }
    const std::optional<event::position>& end() const noexcept override { return end_; }
    std::size_t bytes() const noexcept override { return events_.size() * 100; }

  private:
    std::vector<bson::document> tokens_;
    std::vector<event::change_event> events_;
    std::optional<event::position> end_;
};

/// Gives the batches it was handed, then waits; a stream that begins behind where it is opened.
class fake_source final : public source::source {
  public:
    explicit fake_source(asio::any_io_executor executor)
        : wake_(std::move(executor)) {}

    void feed(int first, int last, int end = 0) {
        for (int n = first; n <= last; ++n)
            if (n <= opened_at)
                ++first;
        waiting_.push_back(std::make_unique<fake_batch>(first, last, end));
        wake_.notify();
    }
    void feed_error(error::diagnostics d) {
        failure_ = std::move(d);
        wake_.notify();
    }

    asio::awaitable<error::result<void>> start(event::position from) override {
        started = true;
        opened_at = from.empty() ? 0 : place_number(from);
        while (hang_at_start && !cancelled)
            co_await wake_.wait();
        if (cancelled)
            co_return error::fail(error::errc::cancelled, "cancelled");
        if (start_error)
            co_return *start_error;
        co_return error::result<void>{};
    }
    asio::awaitable<error::result<std::unique_ptr<cdc::source::batch>>> next_batch() override {
        ++pulls;
        while (waiting_.empty() && !failure_ && !cancelled)
            co_await wake_.wait();
        if (cancelled)
            co_return error::fail(error::errc::cancelled, "cancelled");
        if (waiting_.empty())
            co_return *failure_;
        std::unique_ptr<cdc::source::batch> out = std::move(waiting_.front());
        waiting_.pop_front();
        co_return out;
    }
    void stored(const event::position& lowest) override { told_stored = place_number(lowest); }
    cdc::source::source_status status() const override { return {3, 1, std::chrono::hours(2), {}}; }
    void cancel() noexcept override {
        cancelled = true;
        wake_.notify();
    }
    asio::awaitable<void> stop() override {
        stopped = true;
        co_return;
    }

    bool started = false, cancelled = false, stopped = false, hang_at_start = false;
    int opened_at = 0;
    int told_stored = 0; ///< the position that it was last told to be stored
    int pulls = 0;
    std::optional<error::diagnostics> start_error;

  private:
    std::deque<std::unique_ptr<cdc::source::batch>> waiting_;
    std::optional<error::diagnostics> failure_;
    runtime::wake_slot wake_;
};

/// One record per event ("n"), two for multiples of `tombstone_every`, none for those of
/// `nothing_every`, bad_data for `bad`.
class fake_encoder final : public pipeline::encoder {
  public:
    explicit fake_encoder(std::string mark = {})
        : mark_(std::move(mark)) {}

    error::result<void> encode(const event::change_event& e, std::int64_t,
                               event::record_batch_builder& out) override {
        const int n = static_cast<int>(e.cluster_time.t);
        if (n == bad)
            return error::fail(error::errc::bad_data, "it cannot be read");
        out.begin_event(bson::find(e.resume_token, "_data")->as_string());
        if (nothing_every > 0 && n % nothing_every == 0)
            return {};
        put(out, n, false);
        if (n >= transaction_begin && n <= transaction_end) {
            open_ = true;
            last_token_ = bson::find(e.resume_token, "_data")->as_string();
        }
        if (tombstone_every > 0 && n % tombstone_every == 0)
            put(out, n, true);
        return {};
    }

    // Its transactions are the events from `transaction_begin` to `transaction_end`.
    std::string_view over_before(const event::change_event& next) override {
        const int n = static_cast<int>(next.cluster_time.t);
        return open_ && n > transaction_end ? std::string_view{last_token_} : std::string_view{};
    }
    std::string_view passed_by(const event::position& end) override {
        return open_ && end.data() > last_token_ ? std::string_view{last_token_}
                                                 : std::string_view{};
    }
    void end_transaction(event::record_batch_builder& out) override {
        out.begin_event(last_token_);
        out.begin_record(topic_, event::operation::control);
        out.buffer() += "end";
        out.begin_value();
        out.buffer() += "end";
        out.end_record(false);
        open_ = false;
    }
    std::shared_ptr<const std::string> transaction() override {
        return open_ ? std::make_shared<const std::string>(last_token_) : nullptr;
    }
    error::result<void> restore(const std::string& transaction) override {
        open_ = true;
        last_token_ = transaction;
        return {};
    }

    int bad = 0, tombstone_every = 0, nothing_every = 0;
    int transaction_begin = 0, transaction_end = 0;
    std::size_t padding = 0;

  private:
    void put(event::record_batch_builder& out, int n, bool tombstone) {
        out.begin_record(topic_, event::operation::create);
        out.buffer() += std::to_string(n);
        out.begin_value();
        if (!tombstone) {
            out.buffer() += mark_ + std::to_string(n);
            out.buffer().append(padding, 'x');
        }
        out.end_record(tombstone);
    }
    std::string mark_;
    std::shared_ptr<const std::string> topic_ = std::make_shared<const std::string>("t");
    bool open_ = false;
    std::string last_token_;
};

/// Writes down what it gets; acknowledges at once, or when told.
class fake_sink final : public sink::sink {
  public:
    explicit fake_sink(cdc::sink::context c)
        : context(std::move(c))
        , wake_(context.executor) {}

    asio::awaitable<error::result<void>> start() override {
        started = true;
        if (start_error)
            co_return *start_error;
        co_return error::result<void>{};
    }
    asio::awaitable<error::result<void>>
    write(std::vector<std::shared_ptr<const event::record_batch>> batches) override {
        ++writes;
        if (fail_at_write == writes)
            co_return error::fail(error::errc::io, "disk on fire");
        for (const auto& b : batches)
            for (std::size_t i = 0; i < b->size(); ++i) {
                const auto r = (*b)[i];
                got.push_back(std::stoi(std::string(r.key)));
                sequences.push_back(r.sequence);
                if (r.value)
                    values.emplace_back(*r.value);
                unacknowledged.insert(r.sequence);
            }
        while (block_writes && !cancelled)
            co_await wake_.wait();
        if (cancelled)
            co_return error::fail(error::errc::cancelled, "cancelled");
        if (automatic)
            acknowledge_all();
        co_return error::result<void>{};
    }
    asio::awaitable<error::result<void>> flush() override {
        ++flushes;
        if (flush_acknowledges)
            acknowledge_all();
        while (!unacknowledged.empty() && !cancelled)
            co_await wake_.wait();
        if (cancelled)
            co_return error::fail(error::errc::cancelled, "cancelled");
        co_return error::result<void>{};
    }
    void cancel() noexcept override {
        cancelled = true;
        wake_.notify();
    }
    asio::awaitable<void> stop() override {
        stopped = true;
        co_return;
    }

    void acknowledge(std::uint64_t first, std::uint64_t last) {
        for (auto s = first; s <= last; ++s)
            unacknowledged.erase(s);
        context.acknowledge(first, last);
        wake_.notify();
    }
    void acknowledge_all() {
        while (!unacknowledged.empty()) {
            const auto s = *unacknowledged.begin();
            acknowledge(s, s);
        }
    }
    void unblock() {
        block_writes = false;
        wake_.notify();
    }

    cdc::sink::context context;
    bool automatic = true, block_writes = false, flush_acknowledges = true;
    bool started = false, cancelled = false, stopped = false;
    int writes = 0, flushes = 0, fail_at_write = 0;
    std::optional<error::diagnostics> start_error;
    std::vector<int> got;
    std::vector<std::uint64_t> sequences;
    std::vector<std::string> values;
    std::set<std::uint64_t> unacknowledged;

  private:
    runtime::wake_slot wake_;
};

/// A store whose saves can be made to fail, and that checks that positions never go back.
class watched_store final : public offset::store {
  public:
    error::result<std::vector<offset::entry>> load(const std::string& c) override {
        return inner.load(c);
    }
    error::result<void> save(const std::vector<offset::entry>& entries) override {
        const std::lock_guard lock(mutex);
        if (failing_saves > 0) {
            --failing_saves;
            return error::fail(error::errc::io, "no space left");
        }
        ++saves;
        for (const auto& e : entries) {
            const int n = place_number(*event::position::from_json(e.position));
            auto& last = newest[e.key.sink];
            went_back |= n <= last;
            last = n;
        }
        return inner.save(entries);
    }
    error::result<std::vector<offset::entry>> list() override { return inner.list(); }
    error::result<std::optional<std::string>> load_identity(const std::string& c) override {
        return inner.load_identity(c);
    }
    error::result<void> save_identity(const std::string& c, const std::string& i) override {
        return inner.save_identity(c, i);
    }

    void put(const std::string& sink, int number) {
        (void)inner.save({{{"shop", sink, "server"}, place(number).to_json(), 1}});
    }
    /// 0: none stored.
    int at(const std::string& sink) {
        for (const auto& e : *inner.load("shop"))
            if (e.key.sink == sink)
                return place_number(*event::position::from_json(e.position));
        return 0;
    }

    offset::memory_store inner;
    std::mutex mutex;
    int failing_saves = 0, saves = 0;
    bool went_back = false;
    std::map<std::string, int> newest;
};

/// A connector "shop" made of fakes, on an io_context that the test runs.
class connector_bench {
  public:
    explicit connector_bench(std::vector<std::string> names)
        : sink_names(std::move(names)) {
        options.connector = "shop";
        options.flush_interval = std::chrono::milliseconds{2};
        options.store_retry = {std::chrono::milliseconds{1}, std::chrono::milliseconds{2}};
        source = new fake_source(io.get_executor());
        owned_source_.reset(source);
    }
    ~connector_bench() {
        if (line && !stopped_)
            stop(std::chrono::milliseconds{0});
    }

    void build() {
        pipeline::pipeline_parts parts;
        parts.executor = io.get_executor();
        parts.source = std::move(owned_source_);
        parts.encoders = encoders;
        for (std::size_t i = 0; i < sink_names.size(); ++i) {
            pipeline::sink_plan plan;
            plan.name = sink_names[i];
            plan.encoding = std::min(i, encoders.size() - 1);
            plan.make = [this](cdc::sink::context c) -> std::unique_ptr<cdc::sink::sink> {
                auto s = std::make_unique<fake_sink>(std::move(c));
                sinks[s->context.name] = s.get();
                return s;
            };
            parts.sinks.push_back(std::move(plan));
        }
        parts.store = store.get();
        parts.blocking = &blocking;
        parts.logger = {log, "pipeline"};
        parts.identity = [this] { return identity; };
        parts.changed = [this] { ++changes; };
        line = std::make_unique<pipeline::pipeline>(options, std::move(parts));
    }
    void start() {
        if (!line)
            build();
        line->start();
    }

    /// Runs the reactor until the condition holds; false when it does not within ten seconds.
    bool until(const std::function<bool()>& condition) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{10};
        while (!condition()) {
            if (std::chrono::steady_clock::now() > limit)
                return false;
            io.restart();
            io.run_one_for(std::chrono::milliseconds{5});
        }
        return true;
    }
    bool until_state(pipeline::connector_state s) {
        return until([&] { return line->status().state == s; });
    }
    bool until_ended() {
        return until([&] { return line->status().ended; });
    }
    /// Until nothing is left to do but for timers.
    void settle() {
        io.restart();
        while (io.poll() > 0)
            io.restart();
    }
    pipeline::pipeline::summary stop(std::chrono::milliseconds limit) {
        std::optional<pipeline::pipeline::summary> out;
        stopped_ = true;
        auto work = run_stop(std::chrono::steady_clock::now() + limit, out);
        asio::co_spawn(io, std::move(work), asio::detached);
        const bool done = until([&] { return out.has_value(); });
        if (!done)
            throw std::runtime_error("stop did not return");
        return *out;
    }

    asio::io_context io{1};
    runtime::blocking_pool blocking{1};
    std::shared_ptr<log_capture> log = log_capture::make();
    std::shared_ptr<watched_store> store = std::make_shared<watched_store>();
    pipeline::pipeline_options options;
    std::vector<std::string> sink_names;
    std::vector<std::shared_ptr<pipeline::encoder>> encoders{std::make_shared<fake_encoder>()};
    std::string identity = R"({"set":"rs0"})";
    int changes = 0;
    fake_source* source = nullptr; ///< owned by the pipeline
    std::map<std::string, fake_sink*> sinks;
    std::unique_ptr<pipeline::pipeline> line;

  private:
    asio::awaitable<void> run_stop(std::chrono::steady_clock::time_point deadline,
                                   std::optional<pipeline::pipeline::summary>& out) {
        out = co_await line->stop(deadline);
    }
    std::unique_ptr<fake_source> owned_source_;
    bool stopped_ = false;
};

} // namespace cdc::test
