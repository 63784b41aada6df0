// SPDX-License-Identifier: Apache-2.0
// The webhook sink within a connector: what a slow, absent or refusing receiver does to the rest.
#include "sinks/webhook/webhook_sink.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_receiver.hpp"
#include "tests/support/webhook_stage.hpp"
#include "tests/unit/pipeline/fakes.hpp"

#include <atomic>

using namespace cdc;
using namespace std::chrono_literals;
using pipeline::connector_state;
using test::http_receiver;
using test::receiver_answer;

namespace {

/// A connector with made-up events and one webhook sink, on an io_context that the test runs.
class webhook_connector {
  public:
    explicit webhook_connector(const std::string& url) {
        pipeline::pipeline_options options;
        options.connector = "shop";
        options.flush_interval = 2ms;
        options.queue = {.bytes = 256 * 1024, .items = 1000};
        options.write_bytes = 64 * 1024;
        pipeline::pipeline_parts parts;
        parts.executor = io.get_executor();
        auto owned = std::make_unique<test::fake_source>(io.get_executor());
        source = owned.get();
        parts.source = std::move(owned);
        auto encoder = std::make_shared<test::fake_encoder>();
        encoder->padding = 2000;
        parts.encoders = {encoder};
        parts.sinks = {{"out", [url](cdc::sink::context c) -> std::unique_ptr<cdc::sink::sink> {
                            return std::make_unique<webhook::webhook_sink>(
                                std::move(c), test::quick_webhook(url));
                        }}};
        parts.store = &store;
        parts.blocking = &blocking;
        parts.logger = {log, "pipeline"};
        line.emplace(options, std::move(parts));
        line->start();
    }
    ~webhook_connector() {
        if (!stopped_)
            stop(0ms);
    }

    bool until(const std::function<bool()>& condition) {
        const auto limit = std::chrono::steady_clock::now() + 30s;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > limit)
                return false;
            io.restart();
            io.run_one_for(5ms);
        }
        return true;
    }
    pipeline::pipeline::summary stop(std::chrono::milliseconds limit) {
        std::optional<pipeline::pipeline::summary> out;
        stopped_ = true;
        auto work = run_stop(std::chrono::steady_clock::now() + limit, out);
        boost::asio::co_spawn(io, std::move(work), boost::asio::detached);
        if (!until([&] { return out.has_value(); }))
            throw std::runtime_error("stop did not return");
        return *out;
    }

    boost::asio::io_context io{1};
    runtime::blocking_pool blocking{1};
    std::shared_ptr<test::log_capture> log = test::log_capture::make();
    test::watched_store store;
    test::fake_source* source = nullptr; ///< owned by the pipeline
    std::optional<pipeline::pipeline> line;

  private:
    boost::asio::awaitable<void> run_stop(std::chrono::steady_clock::time_point deadline,
                                          std::optional<pipeline::pipeline::summary>& out) {
        out = co_await line->stop(deadline);
    }
    bool stopped_ = false;
};

} // namespace

TEST_CASE("fault 130: a slow receiver stops the reading, not the memory",
          "[webhook][connector][fault-130]") {
    std::atomic<bool> slow = true;
    http_receiver receiver([&slow](const test::received_request&, std::size_t) {
        receiver_answer a;
        a.held = slow;
        return a;
    });
    webhook_connector c(receiver.url());
    REQUIRE(c.until([&] { return c.line->status().state == connector_state::running; }));
    for (int n = 1; n <= 5000; n += 50)
        c.source->feed(n, n + 49);
    std::size_t most = 0;
    int pulls = -1;
    // Each answer lets one record go; the reading goes on just so far.
    for (std::size_t answered = 0; answered < 20; ++answered) {
        REQUIRE(c.until([&] { return receiver.count() == answered + 1; }));
        const auto s = c.line->status();
        most = std::max(most, s.queue.bytes);
        CHECK(s.records < 400);
        CHECK(s.sinks[0].delivered == answered);
        pulls = c.source->pulls;
        receiver.release();
    }
    CHECK(most <= 256 * 1024);
    CHECK(most > 100 * 1024);
    CHECK(pulls < 10);
    slow = false;
    receiver.release();
    REQUIRE(c.until([&] { return c.store.at("out") == 5000; }));
    CHECK(receiver.count() == 5000);
}

TEST_CASE("a connector shows that its webhook is being retried", "[webhook][connector]") {
    std::atomic<bool> down = true;
    http_receiver receiver([&down](const test::received_request&, std::size_t) {
        receiver_answer a;
        a.status = down ? 503 : 200;
        return a;
    });
    webhook_connector c(receiver.url());
    c.source->feed(1, 10);
    REQUIRE(c.until([&] {
        const auto s = c.line->status();
        return s.sinks[0].state.now == sink::activity::retrying && s.sinks[0].state.attempts >= 3;
    }));
    auto s = c.line->status();
    CHECK(s.state == connector_state::running);
    CHECK(s.sinks[0].state.reason == "answered 503 Service Unavailable");
    CHECK(s.sinks[0].delivered == 0);
    down = false;
    REQUIRE(c.until([&] { return c.store.at("out") == 10; }));
    s = c.line->status();
    CHECK(s.sinks[0].state.now == sink::activity::ok);
    CHECK(s.sinks[0].delivered == 10);
}

TEST_CASE("an answer that refuses ends the connector at its position", "[webhook][connector]") {
    http_receiver receiver([](const test::received_request&, std::size_t n) {
        receiver_answer a;
        a.status = n == 8 ? 410 : 200;
        return a;
    });
    webhook_connector c(receiver.url());
    c.source->feed(1, 20);
    REQUIRE(c.until([&] { return c.line->status().ended; }));
    const auto s = c.line->status();
    CHECK(s.state == connector_state::failed);
    REQUIRE(s.error);
    CHECK(s.error->describe().find("answered 410 Gone") != std::string::npos);
    CHECK(s.sinks[0].delivered == 7);
    CHECK(c.store.at("out") == 7);
    CHECK(receiver.count() == 8);
}

TEST_CASE("a stop while the receiver is away ends in time and keeps the position",
          "[webhook][connector]") {
    auto receiver = std::make_unique<http_receiver>();
    webhook_connector c(receiver->url());
    c.source->feed(1, 5);
    REQUIRE(c.until([&] { return c.store.at("out") == 5; }));
    receiver.reset();
    c.source->feed(6, 9);
    REQUIRE(c.until([&] { return c.line->status().sinks[0].state.attempts >= 2; }));
    const auto begin = std::chrono::steady_clock::now();
    const auto end = c.stop(200ms);
    CHECK(std::chrono::steady_clock::now() - begin < 5s);
    CHECK_FALSE(end.error);
    CHECK(end.sinks[0].delivered == 5);
    CHECK(end.sinks[0].undelivered == 4);
    CHECK(c.store.at("out") == 5);
}
