// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/standin/server_error.hpp"
#include "tests/support/standin/update.hpp"

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;

namespace {

struct row {
    const char* before;
    const char* update;
    const char* after;
    const char* set;   ///< updatedFields
    const char* unset; ///< removedFields as an array
};

std::string shown(const char* json) {
    return standin::describe(standin::from_json(json));
}

standin::update compile(const bson::document& wrapper) {
    return standin::update::compile(*bson::find(wrapper, "u"));
}
bson::document wrapped(const std::string& json) {
    return standin::from_json(R"({"u": )" + json + "}");
}

int refused(const char* before, const char* update) {
    const auto u = wrapped(update);
    try {
        compile(u).apply(standin::from_json(before));
    } catch (const standin::server_error& e) {
        return e.code;
    }
    return 0;
}

} // namespace

TEST_CASE("stand-in update operators: document and log", "[standin][update]") {
    const std::vector<row> rows = {
        {R"({"_id": 1})", R"({"$set": {"b": 1, "a": 2}})", R"({"_id": 1, "a": 2, "b": 1})",
         R"({"a": 2, "b": 1})", "[]"},
        {R"({"_id": 1, "a": 1})", R"({"$set": {"a": 1}})", R"({"_id": 1, "a": 1})", "{}", "[]"},
        {R"({"_id": 1, "a": 1})", R"({"$set": {"a": {"$numberLong": "1"}}})",
         R"({"_id": 1, "a": {"$numberLong": "1"}})", R"({"a": {"$numberLong": "1"}})", "[]"},
        {R"({"_id": 1})", R"({"$set": {"a.b.c": 1}})", R"({"_id": 1, "a": {"b": {"c": 1}}})",
         R"({"a.b.c": 1})", "[]"},
        {R"({"_id": 1, "a": [1, 2]})", R"({"$set": {"a.1": 5}})", R"({"_id": 1, "a": [1, 5]})",
         R"({"a.1": 5})", "[]"},
        {R"({"_id": 1, "a": [1]})", R"({"$set": {"a.3": 5}})",
         R"({"_id": 1, "a": [1, null, null, 5]})", R"({"a.3": 5})", "[]"},
        {R"({"_id": 1, "a": 1, "b": 2})", R"({"$unset": {"a": "", "x": ""}})",
         R"({"_id": 1, "b": 2})", "{}", R"(["a"])"},
        {R"({"_id": 1, "a": [1, 2]})", R"({"$unset": {"a.0": ""}})",
         R"({"_id": 1, "a": [null, 2]})", "{}", R"(["a.0"])"},
        {R"({"_id": 1, "a": 1})", R"({"$inc": {"a": 2, "n": 5}})", R"({"_id": 1, "a": 3, "n": 5})",
         R"({"a": 3, "n": 5})", "[]"},
        {R"({"_id": 1, "a": 2147483647})", R"({"$inc": {"a": 1}})",
         R"({"_id": 1, "a": {"$numberLong": "2147483648"}})",
         R"({"a": {"$numberLong": "2147483648"}})", "[]"},
        {R"({"_id": 1, "a": 1})", R"({"$inc": {"a": 0}})", R"({"_id": 1, "a": 1})", "{}", "[]"},
        {R"({"_id": 1, "a": 1})", R"({"$inc": {"a": 0.5}})", R"({"_id": 1, "a": 1.5})",
         R"({"a": 1.5})", "[]"},
        {R"({"_id": 1, "a": 4})", R"({"$mul": {"a": 3, "n": 2}})", R"({"_id": 1, "a": 12, "n": 0})",
         R"({"a": 12, "n": 0})", "[]"},
        {R"({"_id": 1, "a": 4, "b": 4})", R"({"$min": {"a": 3, "b": 5}})",
         R"({"_id": 1, "a": 3, "b": 4})", R"({"a": 3})", "[]"},
        {R"({"_id": 1, "a": 4, "b": 4})", R"({"$max": {"a": 3, "b": 5}})",
         R"({"_id": 1, "a": 4, "b": 5})", R"({"b": 5})", "[]"},
        {R"({"_id": 1, "a": 4})", R"({"$rename": {"a": "b.c"}})", R"({"_id": 1, "b": {"c": 4}})",
         R"({"b.c": 4})", R"(["a"])"},
        {R"({"_id": 1})", R"({"$rename": {"a": "b"}})", R"({"_id": 1})", "{}", "[]"},
        {R"({"_id": 1})", R"({"$setOnInsert": {"a": 1}})", R"({"_id": 1})", "{}", "[]"},
        {R"({"_id": 1})", R"({"$push": {"a": 1}})", R"({"_id": 1, "a": [1]})", R"({"a": [1]})",
         "[]"},
        {R"({"_id": 1, "a": [1]})", R"({"$push": {"a": [2]}})", R"({"_id": 1, "a": [1, [2]]})",
         R"({"a.1": [2]})", "[]"},
        {R"({"_id": 1, "a": [1]})", R"({"$push": {"a": {"$each": [2, 3]}}})",
         R"({"_id": 1, "a": [1, 2, 3]})", R"({"a.1": 2, "a.2": 3})", "[]"},
        {R"({"_id": 1, "a": [1]})", R"({"$push": {"a": {"$each": []}}})", R"({"_id": 1, "a": [1]})",
         "{}", "[]"},
        {R"({"_id": 1, "a": [1, 2]})", R"({"$push": {"a": {"$each": [3], "$slice": -2}}})",
         R"({"_id": 1, "a": [2, 3]})", R"({"a": [2, 3]})", "[]"},
        {R"({"_id": 1, "a": [1, 2]})", R"({"$push": {"a": {"$each": [3], "$slice": 0}}})",
         R"({"_id": 1, "a": []})", R"({"a": []})", "[]"},
        {R"({"_id": 1, "a": [1, 2]})", R"({"$push": {"a": {"$each": [0], "$position": 0}}})",
         R"({"_id": 1, "a": [0, 1, 2]})", R"({"a": [0, 1, 2]})", "[]"},
        {R"({"_id": 1, "a": [3, 1]})", R"({"$push": {"a": {"$each": [2], "$sort": -1}}})",
         R"({"_id": 1, "a": [3, 2, 1]})", R"({"a": [3, 2, 1]})", "[]"},
        {R"({"_id": 1, "a": [{"x": 2}]})",
         R"({"$push": {"a": {"$each": [{"x": 1}], "$sort": {"x": 1}}}})",
         R"({"_id": 1, "a": [{"x": 1}, {"x": 2}]})", R"({"a": [{"x": 1}, {"x": 2}]})", "[]"},
        {R"({"_id": 1, "a": [1]})", R"({"$addToSet": {"a": {"$each": [1, 2, 2]}}})",
         R"({"_id": 1, "a": [1, 2]})", R"({"a": [1, 2]})", "[]"},
        {R"({"_id": 1, "a": [1]})", R"({"$addToSet": {"a": 1}})", R"({"_id": 1, "a": [1]})", "{}",
         "[]"},
        {R"({"_id": 1, "a": [1, 2, 1]})", R"({"$pull": {"a": 1}})", R"({"_id": 1, "a": [2]})",
         R"({"a": [2]})", "[]"},
        {R"({"_id": 1, "a": [1, 5, 9]})", R"({"$pull": {"a": {"$gt": 4}}})",
         R"({"_id": 1, "a": [1]})", R"({"a": [1]})", "[]"},
        {R"({"_id": 1, "a": [{"x": 1, "y": 1}, {"x": 2}]})", R"({"$pull": {"a": {"x": 1}}})",
         R"({"_id": 1, "a": [{"x": 2}]})", R"({"a": [{"x": 2}]})", "[]"},
        {R"({"_id": 1, "a": [{"x": 1}, 2, {"x": 2}]})", R"({"$pull": {"a": {"x": {"$gte": 2}}}})",
         R"({"_id": 1, "a": [{"x": 1}, 2]})", R"({"a": [{"x": 1}, 2]})", "[]"},
        {R"({"_id": 1, "a": [1, 2]})", R"({"$pop": {"a": 1}})", R"({"_id": 1, "a": [1]})",
         R"({"a": [1]})", "[]"},
        {R"({"_id": 1, "a": [1, 2]})", R"({"$pop": {"a": -1}})", R"({"_id": 1, "a": [2]})",
         R"({"a": [2]})", "[]"},
        {R"({"_id": 1})", R"({"$pop": {"a": 1}})", R"({"_id": 1})", "{}", "[]"},
    };
    for (const auto& r : rows) {
        INFO(r.before << " " << r.update);
        const auto u = wrapped(r.update);
        const auto out = compile(u).apply(standin::from_json(r.before));
        CHECK(standin::describe(out.after.view()) == shown(r.after));
        CHECK(standin::describe(out.updated_fields.view()) == shown(r.set));
        std::string removed;
        for (bson::cursor c{out.removed_fields}; c.next();)
            removed += (removed.empty() ? "\"" : ", \"") + std::string(c.as_string()) + "\"";
        CHECK("[" + removed + "]" == r.unset);
        CHECK(out.changed == (std::string(r.set) != "{}" || std::string(r.unset) != "[]"));
    }
}

TEST_CASE("stand-in updates are refused as the server does", "[standin][update]") {
    CHECK(refused("{}", R"({"$foo": {"a": 1}})") == 9);
    CHECK(refused("{}", R"({"$set": {}})") == 9);
    CHECK(refused("{}", R"({"$set": 1})") == 9);
    CHECK(refused("{}", R"([{"$set": {"a": 1}}])") == 9);
    CHECK(refused("{}", R"({"a": 1, "$set": {"b": 1}})") == 52);
    CHECK(refused(R"({"_id": 1})", R"({"$set": {"a": 1, "a.b": 2}})") == 40);
    CHECK(refused(R"({"_id": 1})", R"({"$set": {"a": 1}, "$inc": {"a": 2}})") == 40);
    CHECK(refused(R"({"_id": 1})", R"({"$set": {"_id": 2}})") == 66);
    CHECK(refused(R"({"_id": 1})", R"({"$unset": {"_id": ""}})") == 66);
    CHECK(refused(R"({"_id": 1})", R"({"$set": {"_id": 1}})") == 0);
    CHECK(refused(R"({"_id": 1})", R"({"_id": 2, "a": 1})") == 66);
    CHECK(refused(R"({"_id": 1, "a": 1})", R"({"$set": {"a.b": 1}})") == 28);
    CHECK(refused(R"({"_id": 1, "a": [1]})", R"({"$set": {"a.b": 1}})") == 28);
    CHECK(refused(R"({"_id": 1, "a": "x"})", R"({"$inc": {"a": 1}})") == 14);
    CHECK(refused(R"({"_id": 1})", R"({"$inc": {"a": "x"}})") == 14);
    CHECK(refused(R"({"_id": 1, "a": {"$numberLong": "9223372036854775807"}})",
                  R"({"$inc": {"a": 1}})") == 2);
    CHECK(refused(R"({"_id": 1, "a": 1})", R"({"$push": {"a": 1}})") == 2);
    CHECK(refused(R"({"_id": 1, "a": 1})", R"({"$pull": {"a": 1}})") == 2);
    CHECK(refused(R"({"_id": 1, "a": 1})", R"({"$addToSet": {"a": 1}})") == 2);
    CHECK(refused(R"({"_id": 1, "a": 1})", R"({"$pop": {"a": 1}})") == 14);
    CHECK(refused(R"({"_id": 1})", R"({"$pop": {"a": 2}})") == 9);
    CHECK(refused(R"({"_id": 1})", R"({"$push": {"a": {"$each": 1}}})") == 2);
}

TEST_CASE("stand-in: what an upsert inserts", "[standin][update]") {
    const auto made = [](const char* query, const char* update) {
        const auto q = standin::from_json(query);
        const auto u = wrapped(update);
        const auto doc = compile(u).apply_to_nothing(standin::matcher::compile(q));
        return standin::describe(doc.view());
    };
    CHECK(made(R"({"_id": 1005})", R"({"$set": {"y": 2}})") == "{ _id: 1005, y: 2 }");
    CHECK(made(R"({"a.b": 1, "c": {"$gt": 2}, "_id": 7})",
               R"({"$inc": {"n": 1}, "$setOnInsert": {"s": 1}})") ==
          "{ _id: 7, a: { b: 1 }, n: 1, s: 1 }");
    CHECK(made(R"({"_id": 3, "x": 1})", R"({"y": 2})") == "{ _id: 3, y: 2 }");
    CHECK(made(R"({"x": 1})", R"({"y": 2})") == "{ y: 2 }");
}
