// SPDX-License-Identifier: Apache-2.0
// Which positions a stream gives out while it reads, with the driver, against the stand-in.
#include "tests/integration/stream/stream_test.hpp"
#include "tests/support/standin/recording.hpp"

using namespace cdc;
using namespace cdc::test;

namespace {

void insert_many(stream_test& t, const std::string& db, const std::string& collection, int count) {
    constexpr int at_once = 1000;
    for (int done = 0; done < count; done += at_once) {
        std::string docs;
        for (int i = done; i < std::min(done + at_once, count); ++i)
            docs += fmt::format(R"({}{{"_id": {}}})", i == done ? "" : ", ", i);
        t.run(db, fmt::format(R"({{"insert": "{}", "documents": [{}]}})", collection, docs));
    }
}

/// The position behind one event of shop.orders.
event::position behind_event(stream_test& t, int id) {
    arrived got;
    REQUIRE(t.start());
    t.insert("shop", "orders", id);
    t.take(got, 1);
    t.stop();
    REQUIRE_FALSE(got.last.is_high_water());
    return got.last.clone();
}

std::size_t served(stream_test& t, const std::string& command) {
    const auto counts = t.set->counts();
    const auto at = counts.commands.find(command);
    return at == counts.commands.end() ? 0 : at->second.as_primary;
}

} // namespace

TEST_CASE(
    "faults 52 and 64: a stretch of foreign entries that one read cannot scan is got through, "
    "each try beginning later",
    "[stream][standin][positions][fault-52][fault-64]") {
    standin::replica_set_options slow;
    slow.scan_limit = 500;
    stream_test t(slow);
    t.options.max_await_time = std::chrono::milliseconds(20);
    t.options.collection_include = {"shop.orders"};
    for (const bool narrow : {false, true}) {
        if (narrow) {
            t.options.capture_scope = mongodb::capture_scope::collection;
            t.options.target_db = "shop";
            t.options.target_collection = "orders";
        }
        const int id = narrow ? 1 : 0;
        auto stored = behind_event(t, 10 + id); // not proved by itself
        insert_many(t, "elsewhere", narrow ? "b" : "a", 10000);
        t.insert("shop", "orders", 20 + id);
        const auto until = t.set->last_time();
        int tries = 0;
        arrived got;
        while (got.events.empty()) {
            // A connection that breaks after every third read, and now and then the program.
            REQUIRE(++tries < 30);
            if (!t.source || tries % 3 == 0)
                REQUIRE(t.start(stored.clone()));
            for (int read = 0; read < 3 && got.events.empty(); ++read) {
                REQUIRE(t.take_batch(got));
                CHECK(stored < got.last);
                CHECK(stored.cluster_time() <= got.last.cluster_time());
                stored = got.last.clone();
            }
            t.set->drop_connections();
        }
        CHECK(tries > 3);
        CHECK(got.events ==
              std::vector<std::string>{fmt::format("insert shop.orders {}", 20 + id)});
        CHECK(stored.cluster_time() == until);
        t.stop();
    }
}

TEST_CASE("fault 48: a long backlog on a slow server is read to its end in one run",
          "[stream][standin][positions][fault-48]") {
    standin::replica_set_options slow;
    slow.scan_limit = 700;
    stream_test t(slow);
    t.options.max_await_time = std::chrono::milliseconds(20);
    t.options.collection_include = {"shop.orders", "shop.backlog"};
    auto stored = behind_event(t, 1);
    insert_many(t, "shop", "backlog", 5000);
    std::vector<std::string> expected;
    for (int i = 0; i < 5000; ++i)
        expected.push_back(fmt::format("insert shop.backlog {}", i));
    REQUIRE(t.start(stored.clone()));
    arrived got;
    t.take(got, expected.size());
    CHECK_FALSE(got.error);
    CHECK(got.events == expected);
    CHECK(got.last.cluster_time() == t.set->last_time());
    CHECK(t.source->reopened() == 0);
}

TEST_CASE("fault 57: after a reconnect an idle stream's position still moves",
          "[stream][standin][positions][fault-57]") {
    stream_test t;
    t.options.collection_include = {"shop.orders"};
    REQUIRE(t.start());
    arrived got;
    REQUIRE(t.take_batch(got));
    for (int round = 0; round < 3; ++round) {
        t.set->drop_connections();
        t.insert("elsewhere", "c", round);
        const auto foreign = t.set->last_time();
        while (got.last.cluster_time() < foreign)
            REQUIRE(t.take_batch(got));
    }
    CHECK(got.events.empty());
    CHECK(t.source->reopened() >= 3);
    CHECK(t.log->count("the connection") + t.log->count("attempt 1") >= 1);
}

TEST_CASE("a restart resumes though the oplog rolled past where the stream once began",
          "[stream][standin][positions]") {
    stream_test t;
    t.options.collection_include = {"shop.orders"};
    REQUIRE(t.start());
    arrived got;
    REQUIRE(t.take_batch(got));
    const auto begin = got.last.cluster_time();
    insert_many(t, "elsewhere", "c", 50);
    const auto foreign = t.set->last_time();
    while (got.last.cluster_time() < foreign)
        REQUIRE(t.take_batch(got));
    t.stop();
    t.set->keep_last(1);
    REQUIRE(begin < t.set->oldest_time());
    REQUIRE(t.start(got.last.clone()));
    t.insert("shop", "orders", 1);
    t.take(got, 1);
    CHECK(got.events == std::vector<std::string>{"insert shop.orders 1"});
}

TEST_CASE(
    "fault 66: an idle stream costs a getMore per wait and now and then one entry of the oplog",
    "[stream][standin][positions][fault-66]") {
    stream_test t;
    t.options.max_await_time = std::chrono::milliseconds(20);
    REQUIRE(t.start());
    arrived got;
    REQUIRE(t.take_batch(got)); // where it began; nothing else comes
    const auto begin = std::chrono::steady_clock::now();
    const auto before = served(t, "getMore");
    while (served(t, "getMore") < before + 30)
        std::this_thread::yield();
    const auto waited = std::chrono::steady_clock::now() - begin;
    CHECK(waited >= std::chrono::milliseconds(29 * 20)); // no read that does not wait
    CHECK(served(t, "aggregate") == 1);
    CHECK(served(t, "find") == 1); // the first look, the next one a minute later
    t.stop();
    // Behind a position: compared with both ends of the oplog, once.
    const auto stored = behind_event(t, 1);
    const auto finds = served(t, "find");
    REQUIRE(t.start(stored.clone()));
    t.insert("shop", "orders", 2);
    t.take(got, 1);
    CHECK(served(t, "find") == finds + 2);
}

TEST_CASE("fault 45: codes that a server answers to opening and reading",
          "[stream][standin][positions][fault-45]") {
    struct row {
        int code;
        const char* command;
        bool goes_on;
    };
    for (const auto& r :
         {row{286, "aggregate", false}, row{286, "getMore", false}, row{280, "aggregate", false},
          row{280, "getMore", false}, row{136, "aggregate", false}, row{136, "getMore", false},
          row{9, "aggregate", false}, row{222, "getMore", true}, row{234, "getMore", true},
          row{43, "getMore", true}, row{40, "getMore", true}, row{40, "aggregate", true},
          row{11600, "aggregate", true}, row{189, "getMore", true}}) {
        INFO(r.command << " " << r.code);
        stream_test t;
        t.options.collection_include = {"shop.orders"};
        const auto stored = behind_event(t, 1);
        t.insert("shop", "orders", 2);
        standin::command_fault fault;
        fault.commands = {r.command};
        fault.error_code = r.code;
        fault.times = 1;
        t.set->fail_commands(fault);
        arrived got;
        const auto started = t.start(stored.clone());
        if (started)
            t.take(got, 1);
        CHECK(t.set->faults_met() == 1);
        if (r.goes_on) {
            CHECK(got.events == std::vector<std::string>{"insert shop.orders 2"});
            continue;
        }
        const auto& d = started ? *got.error : started.error();
        CHECK(d.code == error::errc::position_lost);
        CHECK(got.events.empty());
    }
}
