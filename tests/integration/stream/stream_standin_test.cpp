// SPDX-License-Identifier: Apache-2.0
// The change stream source, with the driver, against the stand-in replica set.
#include "tests/integration/stream/stream_test.hpp"

#include <fmt/format.h>

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;
using mongodb::capture_mode;
using mongodb::capture_scope;
using mongodb::streaming::stream_source;

TEST_CASE("three scopes show what happens in them", "[stream][standin]") {
    struct row {
        capture_scope scope;
        std::vector<std::string> expected;
    };
    const std::vector<std::string> collection = {"insert shop.a.b 1", "insert shop.a.b 4"};
    std::vector<std::string> database = {"insert shop.a.b 1", "insert shop.c 2",
                                         "insert shop.a.b 4"};
    std::vector<std::string> deployment = {"insert shop.a.b 1", "insert shop.c 2",
                                           "insert other.a 3", "insert shop.a.b 4"};
    for (const auto& r :
         {row{capture_scope::collection, collection}, row{capture_scope::database, database},
          row{capture_scope::deployment, deployment}}) {
        stream_test t;
        t.options.capture_scope = r.scope;
        t.options.target_db = r.scope == capture_scope::deployment ? "" : "shop";
        t.options.target_collection = r.scope == capture_scope::collection ? "a.b" : "";
        REQUIRE(t.start());
        CHECK(t.source->set_name() == "rs0");
        CHECK(t.source->server_version() == "4.4.0");
        t.insert("shop", "a.b", 1);
        t.insert("shop", "c", 2);
        t.insert("other", "a", 3);
        t.insert("shop", "a.b", 4);
        arrived got;
        t.take(got, r.expected.size());
        CHECK_FALSE(got.error);
        CHECK(got.events == r.expected);
        CHECK(t.log->count("starts from now at") == 1);
        t.stop();
        CHECK(t.set->open_cursors() == 0);
    }
}

TEST_CASE("only what the lists want crosses the wire", "[stream][standin]") {
    stream_test t;
    SECTION("literals") {
        t.options.collection_include = {"shop.orders", "Inv.a.b"};
    }
    SECTION("regexes") {
        t.options.collection_include = {"shop\\.ord.*", "inv\\.(a\\.b)"};
    }
    SECTION("databases and an exclusion") {
        t.options.database_include = {"shop", "in[uv]"};
        t.options.collection_exclude = {"shop.items", ".*\\.c"};
    }
    REQUIRE(t.start());
    t.insert("shop", "orders", 1);
    t.insert("shop", "items", 2);
    t.insert("shopx", "orders", 3);
    t.insert("inv", "a.b", 4);
    t.insert("inv", "c", 5);
    t.insert("shop", "orders", 6);
    arrived got;
    t.take(got, 3);
    CHECK(got.events == std::vector<std::string>{"insert shop.orders 1", "insert inv.a.b 4",
                                                 "insert shop.orders 6"});
    // The server kept the others back; one item of the exclusion is for the check here alone.
    CHECK(t.source->skipped() == (t.options.collection_exclude.empty() ? 0 : 1));
}

TEST_CASE("updates carry the document only when it is asked for", "[stream][standin]") {
    for (const bool full : {false, true}) {
        stream_test t;
        t.options.capture_mode =
            full ? capture_mode::change_streams_update_full : capture_mode::change_streams;
        REQUIRE(t.start());
        t.insert("shop", "orders", 1);
        t.run("shop",
              R"({"update": "orders", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"v": 1}}}]})");
        t.run("shop", R"({"update": "orders", "updates": [{"q": {"_id": 1}, "u": {"v": 9}}]})");
        t.run("shop", R"({"delete": "orders", "deletes": [{"q": {"_id": 1}, "limit": 1}]})");
        arrived got;
        t.take(got, 4);
        CHECK(got.events == std::vector<std::string>{"insert shop.orders 1", "update shop.orders 1",
                                                     "replace shop.orders 1",
                                                     "delete shop.orders 1"});
        CHECK(got.has_after[0]);
        CHECK(got.has_after[2]);
        CHECK_FALSE(got.has_after[3]);
        // The lookup finds the document of that moment; here it may be gone already.
        if (!full)
            CHECK_FALSE(got.has_after[1]);
    }
    stream_test t;
    t.options.capture_mode = capture_mode::change_streams_update_full;
    t.insert("shop", "orders", 1);
    REQUIRE(t.start());
    t.run("shop",
          R"({"update": "orders", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"v": 1}}}]})");
    arrived got;
    t.take(got, 1);
    CHECK(got.has_after.at(0));
}

TEST_CASE("a source goes on behind what was stored, batches bigger than batchSize",
          "[stream][standin]") {
    stream_test t;
    t.options.max_batch_size = 7;
    t.options.collection_include = {"shop.orders"};
    REQUIRE(t.start());
    arrived got;
    std::vector<std::string> expected;
    int id = 0;
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 25; ++i) {
            t.insert("shop", "orders", id);
            expected.push_back(fmt::format("insert shop.orders {}", id++));
        }
        if (round == 2)
            t.set->drop_connections(); // goes on by itself
        t.take(got, expected.size());
        CHECK_FALSE(got.error);
        CHECK(got.events == expected);
        if (round == 1) {
            // Stopped while things happen.
            t.stop();
            t.insert("shop", "orders", id);
            expected.push_back(fmt::format("insert shop.orders {}", id++));
            REQUIRE(t.start(got.last.clone()));
        }
    }
    CHECK(t.log->count("goes on behind") == 1);
    t.stop();
    CHECK(t.usleeps() == 0);
}

TEST_CASE("positions move while nothing wanted happens", "[stream][standin]") {
    stream_test t;
    t.options.collection_include = {"shop.orders"};
    REQUIRE(t.start());
    arrived got;
    REQUIRE(t.take_batch(got));
    const auto begin = got.last.cluster_time();
    t.insert("shop", "items", 1);
    const auto foreign = t.set->last_time();
    while (got.last.cluster_time() < foreign)
        REQUIRE(t.take_batch(got));
    CHECK(begin < foreign);
    t.set->append_noop();
    const auto noop = t.set->last_time();
    while (got.last.cluster_time() < noop)
        REQUIRE(t.take_batch(got));
    CHECK(got.events.empty());
    CHECK(got.last.is_high_water());

    // It is a place to start from.
    t.stop();
    t.insert("shop", "orders", 2);
    REQUIRE(t.start(got.last.clone()));
    t.take(got, 1);
    CHECK(got.events == std::vector<std::string>{"insert shop.orders 2"});
}

TEST_CASE("an event token on a quiet set is proved before positions move", "[stream][standin]") {
    stream_test t;
    t.options.collection_include = {"shop.orders"};
    REQUIRE(t.start());
    t.insert("shop", "orders", 1);
    arrived got;
    t.take(got, 1);
    const auto batch = got.last.clone();
    REQUIRE_FALSE(batch.is_high_water());
    t.stop();
    t.insert("shop", "items", 1);
    REQUIRE(t.start(batch.clone()));
    REQUIRE(t.take_batch(got));
    CHECK(got.events.size() == 1);
    CHECK(got.last > batch);
    CHECK(t.log->count("the oplog reaches back to the position's time") == 1);
}

TEST_CASE("a position that left the oplog is lost, whatever kind of token it is",
          "[stream][standin]") {
    standin::replica_set_options limited;
    limited.oplog_limit = 10;
    stream_test t(limited);
    t.options.collection_include = {"shop.orders"};
    REQUIRE(t.start());
    arrived got;
    t.insert("shop", "orders", 1);
    t.take(got, 1);
    const auto at_event = got.last.clone();
    REQUIRE_FALSE(at_event.is_high_water());
    t.insert("shop", "items", 1);
    REQUIRE(t.take_batch(got));
    const auto at_time = got.last.clone();
    REQUIRE(at_time.is_high_water());
    t.stop();
    for (int i = 10; i < 40; ++i)
        t.insert("shop", "items", i);

    for (const auto* position : {&at_event, &at_time}) {
        auto result = t.start(position->clone());
        if (result) {
            const auto before = got.last.clone();
            CHECK_FALSE(t.take_batch(got));
            CHECK(got.last == before); // nothing to store came before the error
            result = *got.error;
        }
        REQUIRE_FALSE(result);
        CHECK(result.error().code == error::errc::position_lost);
        INFO(result.error().text);
        CHECK(result.error().text.find(
                  fmt::format("(timestamp {}, {}) is lost", position->cluster_time().t,
                              position->cluster_time().i)) != std::string::npos);
        CHECK(result.error().text.find("oldest entry 2") != std::string::npos);
    }
}

TEST_CASE("fault 73: a collection that does not exist yet is waited for",
          "[stream][standin][fault-73]") {
    stream_test t;
    t.options.capture_scope = capture_scope::collection;
    t.options.target_db = "later";
    t.options.target_collection = "made";
    REQUIRE(t.start());
    t.insert("later", "made", 1);
    arrived got;
    t.take(got, 1);
    CHECK(got.events == std::vector<std::string>{"insert later.made 1"});
}

TEST_CASE("what a user may not do is a clear state; one database's rights are enough for it",
          "[stream][standin]") {
    standin::replica_set_options with_users;
    with_users.users = {{"reader", "secret", {"read@shop"}}};
    stream_test t(with_users);
    t.options.user = "reader";
    t.options.password = "secret";
    auto refused = t.start();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().server_code == 13);
    CHECK(refused.error().text.find("rights changeStream and find on the deployment") !=
          std::string::npos);

    t.options.capture_scope = capture_scope::database;
    t.options.target_db = "shop";
    REQUIRE(t.start());
    t.insert("shop", "orders", 1);
    arrived got;
    t.take(got, 1);
    CHECK(got.events.size() == 1);

    t.options.password = "wrong";
    refused = t.start();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("mongodb.password") != std::string::npos);
    CHECK(refused.error().text.find("wrong") == std::string::npos);
}

TEST_CASE("a standalone server is refused", "[stream][standin]") {
    standin::replica_set_options alone;
    alone.standalone = true;
    stream_test t(alone);
    t.options.connection_string = "mongodb://" + t.set->host_port() + "/?directConnection=true";
    const auto refused = t.start();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("standalone") != std::string::npos);
}

TEST_CASE("broken connections leave no gap, no repeat and few cursors", "[stream][standin]") {
    stream_test t;
    t.options.max_batch_size = 5;
    REQUIRE(t.start());
    arrived got;
    std::vector<std::string> expected;
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < 8; ++k) {
            t.insert("shop", "orders", i * 8 + k);
            expected.push_back(fmt::format("insert shop.orders {}", i * 8 + k));
            if (k == i)
                t.set->drop_connections();
        }
        t.take(got, expected.size());
        CHECK_FALSE(got.error);
        CHECK(got.events == expected);
    }
    CHECK(t.source->reopened() >= 6);
    CHECK(t.log->count("reads changes again") >= 1);
    t.stop();
    CHECK(t.usleeps() == 0);
}
