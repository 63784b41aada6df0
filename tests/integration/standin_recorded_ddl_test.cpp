// SPDX-License-Identifier: Apache-2.0
// What a real 4.4.0 server was recorded to do about drops, renames, databases that end, and an
// event that is too large, asked of the stand-in. What cannot be equal is what
// standin_recordings_test.cpp says, and the ids of an index's build and of a collection that a
// rename dropped; a database's collections are dropped in no particular order.
#include "tests/integration/standin_replay.hpp"

#include <algorithm>

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;

using namespace cdc::test::standin;

namespace {

std::vector<op_row> ddl_operations() {
    const std::string db = "s_ddl";
    const auto insert = [&db](const std::string& coll) {
        return command_row{db, R"({"insert": ")" + coll + R"(", "documents": [{"_id": 1}]})"};
    };
    return {
        {"create a", {{db, R"({"create": "a"})"}}},
        {"insert a", {insert("a")}},
        {"create index",
         {{db, R"({"createIndexes": "a", "indexes": [{"key": {"x": 1}, "name": "x_1"}]})"}}},
        {"rename a b", {{"admin", R"({"renameCollection": "s_ddl.a", "to": "s_ddl.b"})"}}},
        {"insert c", {insert("c")}},
        {"rename b c dropTarget",
         {{"admin", R"({"renameCollection": "s_ddl.b", "to": "s_ddl.c", "dropTarget": true})"}}},
        {"create view", {{db, R"({"create": "v", "viewOn": "c", "pipeline": []})"}}},
        {"capped", {{db, R"({"create": "cap", "capped": true, "size": 4096})"}, insert("cap")}},
        {"drop c", {{db, R"({"drop": "c"})"}}},
        {"insert d", {insert("d")}},
        {"dropDatabase", {{db, R"({"dropDatabase": 1})"}}},
    };
}

std::vector<op_row> invalidate_operations() {
    const std::string db = "s_invalidate_collection";
    return {{"insert", {{db, R"({"insert": "c", "documents": [{"_id": 1}]})"}}},
            {"rename", {{"admin", R"({"renameCollection": "s_invalidate_collection.c",
                            "to": "s_invalidate_collection.c2"})"}}}};
}

std::vector<op_row> cluster_operations() {
    const std::string db = "s_cluster_watch";
    return {{"insert", {{db, R"({"insert": "c", "documents": [{"_id": 1}]})"}}},
            {"drop db", {{db, R"({"dropDatabase": 1})"}}}};
}

} // namespace

TEST_CASE("stand-in: recording ddl", "[standin][recordings]") {
    replay r("ddl", "s_ddl");
    r.open();
    r.operate(ddl_operations());
    r.compare_events();
    r.compare_oplog();
    // Invalidated: the cursor is gone.
    const auto gone = r.get_more(1);
    CHECK(bson::find(gone, "code")->as_int32() == 43);
}

TEST_CASE("stand-in: recording invalidate_collection", "[standin][recordings]") {
    replay r("invalidate_collection", "s_invalidate_collection");
    r.open();
    r.operate(invalidate_operations());
    r.compare_events();
    r.compare_oplog();
}

TEST_CASE("stand-in: recording cluster_watch", "[standin][recordings]") {
    replay r("cluster_watch", "admin");
    r.open();
    r.operate(cluster_operations());
    r.compare_events();
    r.compare_oplog();
}

TEST_CASE("stand-in: recording oversize", "[standin][recordings]") {
    replay r("oversize", "w");
    REQUIRE(r.rows.size() == 2);
    constexpr std::int64_t recorded_size = 33554364;
    constexpr std::size_t most = (16U << 20U) - 64;
    // The update's event has two such documents and what the sizes of its names make.
    const auto event_size = [&](std::size_t bytes) {
        r.set.insert("w", "big", bson::builder{}.int32("_id", 1).finish());
        r.open();
        bson::builder u;
        const std::vector<std::uint8_t> data(bytes, 'y');
        u.document("$set", bson::builder{}.binary("y", 0, data).finish());
        bson::builder one;
        one.document("q", bson::builder{}.int32("_id", 1).finish()).document("u", u.finish());
        bson::builder b;
        b.string("update", "big")
            .array("updates", bson::builder{}.document("0", one.finish()).finish());
        REQUIRE(bson::find(r.set.run("w", b.finish()), "ok")->truthy());
        return r.get_more(1000);
    };
    const auto small = event_size(10);
    const auto base = static_cast<std::int64_t>(
        bson::find_path(small, "cursor.nextBatch.0")->as_document().size());
    REQUIRE((recorded_size - base) % 2 == 0);
    const auto bytes = static_cast<std::size_t>(10 + (recorded_size - base) / 2);
    REQUIRE(bytes <= most);
    REQUIRE(bson::find(r.set.run_json("w", R"({"drop": "big"})"), "ok")->truthy());
    const auto failed = event_size(bytes);
    check_equal("the error", *r.rows[1].reply, failed,
                {"operationTime", "$clusterTime.clusterTime", "errmsg"});
    const auto masked = [](bson::view reply) {
        std::string text(bson::find(reply, "errmsg")->as_string());
        const auto at = text.find("_data: \"") + 8;
        const auto end = text.find('"', at);
        REQUIRE(end < text.size());
        return text.substr(0, at) + without_clock_and_id(text.substr(at, end - at)) +
               text.substr(end);
    };
    CHECK(masked(failed) == masked(*r.rows[1].reply));
    // The cursor is gone with the error.
    CHECK(bson::find(r.get_more(1), "code")->as_int32() == 43);
}
