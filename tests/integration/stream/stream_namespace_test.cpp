// SPDX-License-Identifier: Apache-2.0
// Drops, renames and what they do to streams, against the stand-in replica set.
#include "tests/integration/stream/stream_test.hpp"

using namespace cdc;
using namespace cdc::test;
using mongodb::capture_scope;

namespace {

constexpr const char* scope_names[] = {"deployment", "database", "collection"};

/// Everything that ends a narrow stream, with changes in between.
void drop_and_rename(stream_test& t) {
    t.insert("shop", "orders", 1);
    t.run("admin", R"({"renameCollection": "shop.orders", "to": "shop.old"})");
    t.insert("shop", "orders", 2); // made anew
    t.run("admin", R"({"renameCollection": "shop.old", "to": "shop.orders", "dropTarget": true})");
    t.insert("shop", "orders", 3); // renamed back, over the new one
    t.run("shop", R"({"drop": "orders"})");
    t.insert("shop", "orders", 4);
    t.run("shop", R"({"dropDatabase": 1})");
    t.insert("shop", "orders", 5);
    t.insert("shop", "orders", 6);
}

std::vector<std::string> expected(capture_scope scope, bool with_ddl) {
    std::vector<std::string> out = {"insert shop.orders 1", "rename shop.orders to shop.old",
                                    "insert shop.orders 2", "rename shop.old to shop.orders",
                                    "insert shop.orders 3", "drop shop.orders",
                                    "insert shop.orders 4", "drop shop.orders",
                                    "dropDatabase shop.",   "insert shop.orders 5",
                                    "insert shop.orders 6"};
    std::erase_if(out, [&](const std::string& e) {
        // The stream of a collection ends with the collection, before its database does.
        return with_ddl ? scope == capture_scope::collection && e.starts_with("dropDatabase")
                        : !e.starts_with("insert");
    });
    return out;
}

void set_scope(stream_test& t, capture_scope scope) {
    t.options.capture_scope = scope;
    t.options.target_db = scope == capture_scope::deployment ? "" : "shop";
    t.options.target_collection = scope == capture_scope::collection ? "orders" : "";
    t.options.collection_include = {"shop.orders"};
}

boost::asio::awaitable<bool> next_batch(mongodb::streaming::stream_source& from,
                                        std::vector<std::pair<event::position, std::size_t>>& seen,
                                        arrived& into) {
    const auto before = into.last.clone();
    const bool came = co_await next(from, into);
    if (came && !(into.last == before))
        seen.emplace_back(into.last.clone(), into.events.size());
    co_return came;
}

} // namespace

TEST_CASE("drop, rename and dropDatabase end no connector, and later changes arrive once",
          "[stream][standin]") {
    for (const bool with_ddl : {false, true})
        for (const auto scope :
             {capture_scope::deployment, capture_scope::database, capture_scope::collection}) {
            INFO(scope_names[static_cast<int>(scope)] << (with_ddl ? " with" : " without")
                                                      << " ddl");
            stream_test t;
            set_scope(t, scope);
            t.options.include_ddl_events = with_ddl;
            t.options.max_batch_size = 1; // so that there is a position behind everything
            REQUIRE(t.start());
            arrived got;
            REQUIRE(t.take_batch(got)); // the start
            drop_and_rename(t);
            const auto wanted = expected(scope, with_ddl);
            std::vector<std::pair<event::position, std::size_t>> positions;
            positions.emplace_back(got.last.clone(), 0);
            while (got.events.size() < wanted.size() && !got.error)
                if (!await_on(t.reactor, next_batch(*t.source, positions, got)))
                    break;
            CHECK_FALSE(got.error);
            CHECK(got.events == wanted);
            const std::uint64_t ends = scope == capture_scope::deployment ? 0
                                       : scope == capture_scope::database ? 1
                                                                          : 4;
            CHECK(t.source->reopened() == ends);

            // Killed anywhere: what was stored by then is enough.
            std::size_t invalidates = 0;
            for (const auto& [position, count] : positions) {
                INFO("from behind " << count << " events at " << position.data());
                invalidates += position.is_from_invalidate();
                REQUIRE(t.start(position.clone()));
                arrived rest;
                t.take(rest, wanted.size() - count);
                CHECK_FALSE(rest.error);
                CHECK(rest.events ==
                      std::vector<std::string>(wanted.begin() + static_cast<std::ptrdiff_t>(count),
                                               wanted.end()));
            }
            CHECK(invalidates == ends);
        }
}

TEST_CASE("control events are those of what is captured", "[stream][standin]") {
    stream_test t;
    t.options.include_ddl_events = true;
    t.options.collection_include = {"shop.orders", "inv\\.a.*", "eu_.*\\.b"};
    REQUIRE(t.start());
    t.insert("shop", "orders", 1);
    t.insert("shop", "items", 2);
    t.insert("inv", "abc", 3);
    t.insert("inv", "x", 4);
    t.insert("other", "a", 5);
    t.insert("eu_1", "c", 6);
    t.run("shop", R"({"drop": "items"})");
    t.run("admin", R"({"renameCollection": "inv.x", "to": "inv.y"})");
    t.run("admin", R"({"renameCollection": "inv.y", "to": "inv.a1"})");  // becomes captured
    t.run("admin", R"({"renameCollection": "inv.abc", "to": "inv.z"})"); // was captured
    t.run("other", R"({"dropDatabase": 1})");
    t.run("eu_1", R"({"dropDatabase": 1})"); // could hold eu_1.b
    t.run("shop", R"({"dropDatabase": 1})");
    t.insert("shop", "orders", 7);
    arrived got;
    const std::vector<std::string> wanted = {"insert shop.orders 1",   "insert inv.abc 3",
                                             "rename inv.y to inv.a1", "rename inv.abc to inv.z",
                                             "dropDatabase eu_1.",     "drop shop.orders",
                                             "dropDatabase shop.",     "insert shop.orders 7"};
    t.take(got, wanted.size());
    CHECK_FALSE(got.error);
    CHECK(got.events == wanted);
    CHECK(t.source->skipped() == 5); // two drops, a rename, a database, and the drop of eu_1.c
}

TEST_CASE("fault 68: a rename over another collection shows the rename alone",
          "[stream][standin][fault-68]") {
    for (const bool with_ddl : {false, true}) {
        stream_test t;
        t.options.include_ddl_events = with_ddl;
        t.options.collection_include = {"shop.dst"};
        REQUIRE(t.start());
        t.insert("shop", "dst", 1);
        t.insert("shop", "src", 2);
        t.run("admin", R"({"renameCollection": "shop.src", "to": "shop.dst", "dropTarget": true})");
        t.insert("shop", "dst", 3);
        t.run("shop",
              R"({"update": "dst", "updates": [{"q": {"_id": 2}, "u": {"$set": {"v": 2}}}]})");
        std::vector<std::string> wanted = {"insert shop.dst 1", "rename shop.src to shop.dst",
                                           "insert shop.dst 3", "update shop.dst 2"};
        if (!with_ddl)
            wanted.erase(wanted.begin() + 1);
        arrived got;
        t.take(got, wanted.size());
        CHECK_FALSE(got.error);
        CHECK(got.events == wanted);
    }
}

TEST_CASE("fault 70: views and the collections of the server itself make no events",
          "[stream][standin][fault-70]") {
    stream_test t;
    t.options.collection_include = {".*"};
    t.options.include_ddl_events = true;
    REQUIRE(t.start());
    t.insert("shop", "orders", 1);
    t.run("shop", R"({"create": "recent", "viewOn": "orders", "pipeline": []})");
    t.run("shop", R"({"create": "log", "capped": true, "size": 4096})");
    t.insert("shop", "system.buckets.weather", 2);
    t.insert("shop", "log", 3);
    t.run("shop", R"({"drop": "system.views"})");
    t.insert("shop", "orders", 4);
    arrived got;
    t.take(got, 3);
    CHECK_FALSE(got.error);
    CHECK(got.events == std::vector<std::string>{"insert shop.orders 1", "insert shop.log 3",
                                                 "insert shop.orders 4"});
}

TEST_CASE("fault 71: a view as the stream's target is refused by name",
          "[stream][standin][fault-71]") {
    stream_test t;
    t.insert("shop", "orders", 1);
    t.run("shop", R"({"create": "recent", "viewOn": "orders", "pipeline": []})");
    t.options.capture_scope = capture_scope::collection;
    t.options.target_db = "shop";
    t.options.target_collection = "recent";
    const auto refused = t.start();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().server_code == 166);
    CHECK(refused.error().text.find("collection shop.recent is a view") != std::string::npos);
}

TEST_CASE("fault 72: the first dot parts database and collection, in literals and regexes",
          "[stream][standin][fault-72]") {
    for (const char* item : {"a.b.c.d", "a\\.b\\.c\\.d"}) {
        stream_test t;
        t.options.collection_include = {item};
        REQUIRE(t.start());
        t.insert("a", "b.c.d", 1);
        t.insert("a", "b", 2);
        t.insert("a", "b.c.d", 3);
        arrived got;
        t.take(got, 2);
        CHECK(got.events == std::vector<std::string>{"insert a.b.c.d 1", "insert a.b.c.d 3"});
    }
}

TEST_CASE("fault 73: a refused stream fails and does not count as waiting for its collection",
          "[stream][standin][fault-73]") {
    standin::replica_set_options with_users;
    with_users.users = {{"reader", "secret", {"read@shop"}}};
    stream_test t(with_users);
    t.options.user = "reader";
    t.options.password = "secret";
    t.options.capture_scope = capture_scope::collection;
    t.options.target_db = "elsewhere";
    t.options.target_collection = "missing";
    const auto refused = t.start();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().server_code == 13);
    CHECK(refused.error().text.find("collection elsewhere.missing") != std::string::npos);
}
