// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "tests/support/standin/matcher.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/standin/server_error.hpp"

namespace standin = cdc::test::standin;

namespace {

struct row {
    const char* filter;
    const char* doc;
    bool matches;
};

} // namespace

TEST_CASE("stand-in matcher", "[standin][matcher]") {
    const std::vector<row> rows = {
        {"{}", R"({"a": 1})", true},
        {R"({"a": 1})", R"({"a": 1})", true},
        {R"({"a": 1})", R"({"a": {"$numberDouble": "1.0"}})", true},
        {R"({"a": 1})", R"({"a": "1"})", false},
        {R"({"a": 1})", R"({"a": [2, 1]})", true},
        {R"({"a": [2, 1]})", R"({"a": [2, 1]})", true},
        {R"({"a": [2, 1]})", R"({"a": [[2, 1]]})", true},
        {R"({"a": [1, 2]})", R"({"a": [2, 1]})", false},
        {R"({"a": {"b": 1}})", R"({"a": {"b": 1}})", true},
        {R"({"a": {"b": 1}})", R"({"a": {"b": 1, "c": 2}})", false},
        {R"({"a": null})", R"({"b": 1})", true},
        {R"({"a": null})", R"({"a": null})", true},
        {R"({"a": null})", R"({"a": 0})", false},
        {R"({"a.b": 1})", R"({"a": {"b": 1}})", true},
        {R"({"a.b": 1})", R"({"a": [{"b": 2}, {"b": 1}]})", true},
        {R"({"a.1.b": 1})", R"({"a": [{"b": 2}, {"b": 1}]})", true},
        {R"({"a.0.b": 1})", R"({"a": [{"b": 2}, {"b": 1}]})", false},
        {R"({"a.1": 5})", R"({"a": [4, 5]})", true},
        {R"({"a.b.c": 1})", R"({"a": [{"b": [{"c": 1}]}]})", true},
        {R"({"a": {"$gt": 1}})", R"({"a": 2})", true},
        {R"({"a": {"$gt": 1}})", R"({"a": "2"})", false},
        {R"({"a": {"$gt": 1, "$lt": 3}})", R"({"a": 3})", false},
        {R"({"a": {"$gte": 3}})", R"({"a": [1, 3]})", true},
        {R"({"a": {"$lte": {"$date": {"$numberLong": "5"}}}})",
         R"({"a": {"$date": {"$numberLong": "5"}}})", true},
        {R"({"a": {"$ne": 1}})", R"({"a": [2, 1]})", false},
        {R"({"a": {"$ne": 1}})", R"({"b": 1})", true},
        {R"({"a": {"$in": [1, "x"]}})", R"({"a": "x"})", true},
        {R"({"a": {"$in": [1, "x"]}})", R"({"a": ["y", "x"]})", true},
        {R"({"a": {"$in": []}})", R"({"a": "x"})", false},
        {R"({"a": {"$in": [null]}})", R"({"b": "x"})", true},
        {R"({"a": {"$in": [{"$regularExpression": {"pattern": "^x", "options": ""}}]}})",
         R"({"a": "xyz"})", true},
        {R"({"a": {"$nin": [1]}})", R"({"a": 2})", true},
        {R"({"a": {"$exists": true}})", R"({"a": null})", true},
        {R"({"a": {"$exists": false}})", R"({"a": null})", false},
        {R"({"a": {"$exists": false}})", R"({"b": null})", true},
        {R"({"a.b": {"$exists": false}})", R"({"a": [1, 2]})", true},
        {R"({"a": {"$regex": "^AB", "$options": "i"}})", R"({"a": "abc"})", true},
        {R"({"a": {"$regex": "^AB"}})", R"({"a": "abc"})", false},
        {R"({"a": {"$regularExpression": {"pattern": "b", "options": ""}}})", R"({"a": "abc"})",
         true},
        {R"({"a": {"$regex": "b"}})", R"({"a": 1})", false},
        {R"({"a": {"$not": {"$gt": 5}}})", R"({"a": 3})", true},
        {R"({"a": {"$not": {"$gt": 5}}})", R"({"b": 3})", true},
        {R"({"a": {"$not": {"$regularExpression": {"pattern": "b", "options": ""}}}})",
         R"({"a": "abc"})", false},
        {R"({"$and": [{"a": 1}, {"b": 2}]})", R"({"a": 1, "b": 2})", true},
        {R"({"$or": [{"a": 1}, {"b": 2}]})", R"({"a": 2, "b": 2})", true},
        {R"({"$nor": [{"a": 1}, {"b": 2}]})", R"({"a": 2, "b": 2})", false},
        {R"({"$nor": [{"a": 1}, {"b": 3}]})", R"({"a": 2, "b": 2})", true},
        {R"({"a": {"$size": 2}})", R"({"a": [1, 2]})", true},
        {R"({"a": {"$size": 1}})", R"({"a": [1, 2]})", false},
        {R"({"a": {"$all": [1, 2]}})", R"({"a": [2, 3, 1]})", true},
        {R"({"a": {"$elemMatch": {"$gt": 1, "$lt": 3}}})", R"({"a": [0, 4]})", false},
        {R"({"a": {"$gt": 1, "$lt": 3}})", R"({"a": [0, 4]})", true},
        {R"({"a": {"$elemMatch": {"x": 1, "y": 2}}})", R"({"a": [{"x": 1}, {"x": 1, "y": 2}]})",
         true},
        {R"({"a": {"$elemMatch": {"x": 1, "y": 2}}})", R"({"a": [{"x": 1}, {"y": 2}]})", false},
        // As a change stream is filtered.
        {R"({"$or": [{"$and": [{"ns.db": "inventory"}, {"ns.coll": {"$in": ["a", "b"]}}]},
                     {"operationType": "invalidate"}]})",
         R"({"operationType": "insert", "ns": {"db": "inventory", "coll": "b"}})", true},
        {R"({"$or": [{"$and": [{"ns.db": "inventory"}, {"ns.coll": {"$in": ["a", "b"]}}]},
                     {"operationType": "invalidate"}]})",
         R"({"operationType": "invalidate"})", true},
    };
    for (const auto& r : rows) {
        INFO(r.filter << " on " << r.doc);
        const auto filter = standin::from_json(r.filter);
        const auto m = standin::matcher::compile(filter);
        CHECK(m.matches(standin::from_json(r.doc)) == r.matches);
    }
}

TEST_CASE("stand-in matcher refuses as the server", "[standin][matcher]") {
    for (const auto& [filter, code] :
         std::vector<std::pair<const char*, int>>{{R"({"$foo": 1})", 2},
                                                  {R"({"a": {"$foo": 1}})", 2},
                                                  {R"({"$and": []})", 2},
                                                  {R"({"$or": [1]})", 2},
                                                  {R"({"a": {"$in": 1}})", 2},
                                                  {R"({"a": {"$not": 1}})", 2},
                                                  {R"({"$where": "x"})", 2},
                                                  {R"({"a": {"$regex": "("}})", 51091}}) {
        INFO(filter);
        const auto doc = standin::from_json(filter);
        int found = 0;
        try {
            standin::matcher::compile(doc);
        } catch (const standin::server_error& e) {
            found = e.code;
        }
        CHECK(found == code);
    }
}

TEST_CASE("stand-in matcher: what it tells about its filter", "[standin][matcher]") {
    const auto filter =
        standin::from_json(R"({"_id": 5, "$or": [{"fullDocument.x": 1}], "b": {"$gt": 1}})");
    const auto m = standin::matcher::compile(filter);
    CHECK(m.mentions("fullDocument"));
    CHECK(m.mentions("b"));
    CHECK_FALSE(m.mentions("x"));
    REQUIRE(m.equality("_id"));
    CHECK(m.equality("_id")->as_int32() == 5);
    CHECK_FALSE(m.equality("b"));
}
