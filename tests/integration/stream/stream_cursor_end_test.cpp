// SPDX-License-Identifier: Apache-2.0
// Cursors and sessions that the server ends under a stream.
#include "core/bson/builder.hpp"
#include "sources/mongodb/modes/connector.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/standin/replica_set.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using mongodb::streaming::stream_source;

namespace {

asio::awaitable<std::vector<int>> take(stream_source& from, std::size_t count) {
    std::vector<int> ids;
    while (ids.size() < count) {
        auto batch = co_await from.next_batch();
        if (!batch)
            break;
        for (const auto& e : (*batch)->events())
            ids.push_back(e.id->as_int32());
    }
    co_return ids;
}

std::vector<int> numbers(int from, int to) {
    std::vector<int> out;
    for (int i = from; i < to; ++i)
        out.push_back(i);
    return out;
}

struct cursor_test : driver_fixture {
    standin::replica_set set;
    mongodb::connector_options options;
    std::unique_ptr<stream_source> source;

    cursor_test() {
        options.connection_string = set.uri();
        options.max_await_time = 100ms;
        options.socket_timeout = 20s;
        options.server_selection_timeout = 10s;
        options.capture_mode = mongodb::capture_mode::change_streams;
    }

    ~cursor_test() { stop(); }
    cursor_test(const cursor_test&) = delete;
    cursor_test& operator=(const cursor_test&) = delete;

    stream_source& start() {
        auto made = mongodb::modes::make_connector_source(options, executor(), blocking, logger);
        REQUIRE(made);
        source = std::move(*made);
        REQUIRE(await_on(reactor, source->start({})));
        return *source;
    }
    void stop() {
        if (source)
            await_on(reactor, source->stop());
        source.reset();
    }
    void insert(int from, int to) {
        for (int i = from; i < to; ++i) {
            bson::builder b;
            set.insert("shop", "orders", b.int32("_id", i).finish());
        }
    }
    std::size_t served(const std::string& command) const {
        const auto counts = set.counts().commands;
        const auto at = counts.find(command);
        return at == counts.end() ? 0 : at->second.as_primary;
    }
};

} // namespace

TEST_CASE("a cursor that is killed under a waiting getMore is opened again at once",
          "[stream][standin]") {
    cursor_test t;
    t.options.max_await_time = 15s;
    auto& source = t.start();
    auto taken = asio::co_spawn(t.executor(), take(source, 10), asio::use_future);
    REQUIRE(eventually([&] { return t.served("getMore") == 1; }));
    CHECK(t.set.kill_cursors() == 1); // 237
    t.insert(0, 10);
    CHECK(taken.get() == numbers(0, 10));
    CHECK(source.reopened() == 1);
    t.stop();
    CHECK(t.set.open_cursors() == 0);
}

TEST_CASE("faults 100 and 101: a stream whose cursor or session ended half-way goes on behind the "
          "last event",
          "[stream][standin][fault-100][fault-101]") {
    cursor_test t;
    t.options.max_batch_size = 7;
    auto& source = t.start();
    std::vector<int> got;
    int next = 0;
    const auto read = [&](std::size_t count) {
        const auto more = await_on(t.reactor, take(source, count));
        got.insert(got.end(), more.begin(), more.end());
    };
    // As a rule the cursor lies idle then, because nobody takes what waits (43).
    for (const char* end : {"cursor", "session"}) {
        INFO(end);
        t.insert(next, next + 50);
        next += 50;
        read(7);
        const auto asked = t.served("getMore");
        if (std::string(end) == "cursor")
            CHECK(t.set.kill_cursors() == 1);
        else
            t.set.run_json("admin", R"({"killAllSessions": []})");
        read(static_cast<std::size_t>(next) - got.size());
        CHECK(got == numbers(0, next));
        CHECK(t.served("getMore") > asked);
    }
    CHECK(source.reopened() == 2);
    t.insert(next, next + 5);
    read(5);
    CHECK(got == numbers(0, next + 5));
    t.stop();
    CHECK(t.set.open_cursors() == 0);
}
