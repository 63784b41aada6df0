// SPDX-License-Identifier: Apache-2.0
// Cursors, sessions, connections and logins that end, and what streams leave on the server.
#include "core/bson/builder.hpp"
#include "sources/mongodb/modes/connector.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/standin/replica_set.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
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

/// Counts what comes until the stream ends.
asio::awaitable<void> count(stream_source* from, std::size_t* seen) {
    for (;;) {
        auto batch = co_await from->next_batch();
        if (!batch)
            co_return;
        *seen += (*batch)->events().size();
    }
}

std::vector<int> numbers(int from, int to) {
    std::vector<int> out;
    for (int i = from; i < to; ++i)
        out.push_back(i);
    return out;
}

std::size_t open_descriptors() {
    std::size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        n += entry.exists() ? 1 : 0;
    return n;
}

struct cursor_test : driver_fixture {
    standin::replica_set set;
    mongodb::connector_options options;
    std::vector<std::unique_ptr<stream_source>> sources;

    explicit cursor_test(standin::replica_set_options set_options = {})
        : set(std::move(set_options)) {
        options.connection_string = set.uri();
        options.max_await_time = 100ms;
        options.socket_timeout = 20s;
        options.server_selection_timeout = 10s;
        options.capture_mode = mongodb::capture_mode::change_streams;
    }

    ~cursor_test() { stop(); }
    cursor_test(const cursor_test&) = delete;
    cursor_test& operator=(const cursor_test&) = delete;

    stream_source& make() {
        auto made = mongodb::modes::make_connector_source(options, executor(), blocking, logger);
        REQUIRE(made);
        sources.push_back(std::move(*made));
        return *sources.back();
    }
    stream_source& start() {
        stream_source& source = make();
        REQUIRE(await_on(reactor, source.start({})));
        return source;
    }
    /// Stops all and forgets them.
    void stop() {
        for (auto& s : sources)
            await_on(reactor, s->stop());
        sources.clear();
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
    template <class F>
    auto on_reactor(F work) {
        std::promise<std::invoke_result_t<F>> out;
        asio::post(executor(), [&] { out.set_value(work()); });
        return out.get_future().get();
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
    // Nobody takes what waits, so the cursor lies idle until the server drops it (43).
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
        CHECK(t.set.open_cursors() == 0);
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

TEST_CASE("fault 103: 200 forced reconnects leave no cursor, connection or descriptor behind",
          "[stream][standin][fault-103]") {
    constexpr std::size_t streams = 20;
    constexpr std::size_t rounds = 10;
    cursor_test t;
    t.start();
    t.stop();
    REQUIRE(eventually([&] { return t.set.open_connections() == 0; }));
    const auto descriptors = open_descriptors(); // libraries keep some from their first use on
    std::vector<std::future<void>> readers;
    std::vector<std::size_t> seen(streams, 0);
    for (std::size_t i = 0; i < streams; ++i)
        readers.push_back(
            asio::co_spawn(t.executor(), count(&t.start(), &seen[i]), asio::use_future));
    REQUIRE(t.set.open_cursors() == streams);
    const auto all_again = [&](std::size_t round) {
        return t.set.open_cursors() == streams && t.on_reactor([&] {
            return std::ranges::all_of(t.sources,
                                       [&](const auto& s) { return s->reopened() >= round; }) &&
                   std::ranges::all_of(seen, [&](std::size_t n) { return n == round; });
        });
    };
    std::size_t most_connections = 0;
    for (std::size_t round = 1; round <= rounds; ++round) {
        t.set.drop_connections();
        t.insert(static_cast<int>(round), static_cast<int>(round) + 1);
        REQUIRE(eventually([&] { return all_again(round); }, 60s));
        most_connections = std::max(most_connections, t.set.open_connections());
    }
    // One that reads and one that watches for each.
    CHECK(most_connections <= 2 * streams);
    for (auto& source : t.sources)
        await_on(t.reactor, source->stop());
    for (auto& reader : readers)
        reader.get();
    CHECK(t.set.open_cursors() == 0);
    t.stop();
    CHECK(eventually([&] { return t.set.open_connections() == 0; }));
    CHECK(eventually([&] { return open_descriptors() <= descriptors; }));
}

TEST_CASE("fault 103: 200 wrong passwords leave no cursor, connection or descriptor behind",
          "[stream][standin][fault-103]") {
    standin::replica_set_options with_users;
    with_users.users = {{"reader", "secret", {"root"}}};
    cursor_test t(with_users);
    t.options.user = "reader";
    t.options.password = "wrong";
    std::size_t descriptors = 0;
    for (int i = 0; i <= 200; ++i) {
        const auto refused = await_on(t.reactor, t.make().start({}));
        REQUIRE_FALSE(refused);
        REQUIRE(refused.error().text.find("mongodb.password") != std::string::npos);
        t.stop();
        REQUIRE(t.set.open_connections() <= 4); // of this one and what is still being closed
        if (i == 0) {
            REQUIRE(eventually([&] { return t.set.open_connections() == 0; }));
            descriptors = open_descriptors(); // libraries keep some from their first use on
        }
    }
    CHECK(t.set.open_cursors() == 0);
    CHECK(eventually([&] { return t.set.open_connections() == 0; }));
    CHECK(eventually([&] { return open_descriptors() <= descriptors; }));
}
