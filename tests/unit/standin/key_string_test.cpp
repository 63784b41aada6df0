// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "tests/support/standin/difference.hpp"
#include "tests/support/standin/key_string.hpp"
#include "tests/support/standin/recorded_history.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/standin/resume_token.hpp"
#include "tests/support/test_data.hpp"

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;

namespace {

bson::document wrapped(const std::string& json) {
    return standin::from_json(R"({"v": )" + json + "}");
}

int order(const std::string& a, const std::string& b) {
    const auto left = wrapped(a);
    const auto right = wrapped(b);
    const int out = standin::compare(*bson::find(left, "v"), *bson::find(right, "v"));
    return (out > 0) - (out < 0);
}

} // namespace

TEST_CASE("stand-in key string: every recorded resume token is made again",
          "[standin][keystring]") {
    std::size_t tokens = 0;
    for (const char* file : {"recordings/types.jsonl", "recordings/crud.jsonl",
                             "golden/v3-change_streams.input.jsonl"}) {
        standin::recorded_history recorded;
        recorded.load(cdc::test::data_path(file));
        for (std::size_t i = 0; i < recorded.size(); ++i) {
            const bson::view change = recorded.at(i);
            const auto key = bson::find(change, "documentKey");
            const auto token = bson::find(change, "_id");
            if (!key ||
                bson::find(change, "lsid")) // tokens within a transaction count its operations
                continue;
            standin::oplog_entry e;
            e.ts = bson::find(change, "clusterTime")->as_timestamp();
            e.collection_id = standin::random_uuid();
            e.key = bson::document::copy_of(key->as_document());
            const auto made = standin::resume_token::of_event(e).to_document();
            INFO(file << " " << i);
            CHECK(standin::differences(token->as_document(), made, {}).empty());
            // The clock's bytes, which the comparison leaves out.
            const auto text = [](bson::view t) {
                return std::string(bson::find(t, "_data")->as_string().substr(0, 18));
            };
            CHECK(text(token->as_document()) == text(made));
            CHECK(standin::resume_token::parse(*token).cluster_time() == e.ts);
            ++tokens;
        }
    }
    CHECK(tokens > 200);
}

TEST_CASE("stand-in comparison: the order of types and numbers", "[standin][compare]") {
    const std::vector<std::string> ascending = {
        R"({"$minKey": 1})",
        "null",
        R"({"$numberDouble": "NaN"})",
        R"({"$numberDouble": "-Infinity"})",
        R"({"$numberDecimal": "-1E+6000"})",
        R"({"$numberDouble": "-1e300"})",
        R"({"$numberLong": "-9223372036854775808"})",
        R"({"$numberLong": "-9223372036854775807"})",
        R"({"$numberLong": "-9007199254740993"})",
        R"({"$numberDouble": "-9007199254740992.0"})",
        "-1000",
        R"({"$numberDouble": "-1.5"})",
        R"({"$numberInt": "-1"})",
        R"({"$numberDouble": "-0.5"})",
        R"({"$numberDouble": "-1e-300"})",
        "0",
        R"({"$numberDecimal": "1E-6000"})",
        R"({"$numberDouble": "1e-300"})",
        R"({"$numberDecimal": "0.1"})",
        R"({"$numberDouble": "0.1"})", // the double is a little more than the decimal
        R"({"$numberDecimal": "0.1000000000000000055511151231257828"})",
        R"({"$numberDouble": "0.5"})",
        "1",
        R"({"$numberDecimal": "1.000000000000000000000000000000001"})",
        R"({"$numberDecimal": "1.1"})",
        R"({"$numberDouble": "1.1"})",
        "255",
        "256",
        R"({"$numberDouble": "9007199254740992.0"})",
        R"({"$numberLong": "9007199254740993"})",
        R"({"$numberDecimal": "9007199254740993.5"})",
        R"({"$numberLong": "9223372036854775807"})",
        R"({"$numberDouble": "9223372036854775808"})",
        R"({"$numberDouble": "1e300"})",
        R"({"$numberDecimal": "1E+6000"})",
        R"({"$numberDouble": "Infinity"})",
        R"("")",
        R"("a")",
        R"("a\u0000")",
        R"("a\u0000b")",
        R"("ab")",
        R"("b")",
        "{}",
        R"({"a": 1})",
        R"({"a": 1, "b": 1})",
        R"({"b": 1})",
        R"({"a": "x"})",
        "[]",
        "[1]",
        "[1, 2]",
        "[2]",
        R"({"$binary": {"base64": "AA==", "subType": "00"}})",
        R"({"$binary": {"base64": "AAA=", "subType": "00"}})",
        R"({"$binary": {"base64": "AAA=", "subType": "04"}})",
        R"({"$oid": "596e275826f08b2730779e1f"})",
        R"({"$oid": "596e275826f08b2730779e20"})",
        "false",
        "true",
        R"({"$date": {"$numberLong": "-1"}})",
        R"({"$date": {"$numberLong": "0"}})",
        R"({"$timestamp": {"t": 1, "i": 2}})",
        R"({"$timestamp": {"t": 2, "i": 1}})",
        R"({"$regularExpression": {"pattern": "a", "options": ""}})",
        R"({"$code": "a"})",
        R"({"$code": "a", "$scope": {}})",
        R"({"$maxKey": 1})",
    };
    for (std::size_t i = 0; i < ascending.size(); ++i)
        for (std::size_t j = 0; j < ascending.size(); ++j) {
            INFO(ascending[i] << " and " << ascending[j]);
            CHECK(order(ascending[i], ascending[j]) == (i > j) - (i < j));
        }
}

TEST_CASE("stand-in comparison: equal numbers of different types", "[standin][compare]") {
    for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
             {"1", R"({"$numberLong": "1"})"},
             {"1", R"({"$numberDouble": "1.0"})"},
             {"1", R"({"$numberDecimal": "1.00"})"},
             {R"({"$numberDouble": "0.0"})", R"({"$numberDouble": "-0.0"})"},
             {"0", R"({"$numberDecimal": "-0E+3"})"},
             {R"({"$numberDecimal": "1.10"})", R"({"$numberDecimal": "1.1"})"},
             {R"({"$numberDecimal": "0.5"})", R"({"$numberDouble": "0.5"})"},
             {R"({"$numberLong": "-9223372036854775808"})",
              R"({"$numberDouble": "-9223372036854775808"})"},
             {R"({"$numberDecimal": "Infinity"})", R"({"$numberDouble": "Infinity"})"},
             {R"({"$numberDecimal": "NaN"})", R"({"$numberDouble": "NaN"})"},
             {R"("s")", R"({"$symbol": "s"})"}}) {
        INFO(a << " and " << b);
        CHECK(order(a, b) == 0);
    }
}
