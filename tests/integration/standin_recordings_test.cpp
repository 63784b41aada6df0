// SPDX-License-Identifier: Apache-2.0
// What a real 4.4.0 server was asked and answered (tests/data/recordings), asked of the stand-in.
//
// Everything must be equal: fields, their order, types, values, codes, texts and labels, but for
//   - clocks: clusterTime, operationTime, $clusterTime, wall, localTime, lastWrite, and their bytes
//     in resume tokens;
//   - ids: cursor ids, the collections' ids and their bytes in tokens, processId, connectionId;
//   - the server's address (host and port);
//   - what an oplog entry of a retryable write has besides (lsid, txnNumber, stmtId, prevOpTime);
//   - the number of getMores that a recording needed for its events.
// One operation is not done as it was: "pipeline update truncating tags" is a replacement by the
// document that the pipeline made, because the stand-in refuses updates by pipeline; the server
// wrote it as that replacement, too. Of the errors recording, rows that are no business of a change
// stream's client are not asked: replSetGetStatus, collStats, explain and the newest oplog entry.
#include "tests/integration/standin_replay.hpp"

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;
namespace wire = cdc::test::wire;

using namespace cdc::test::standin;

namespace {

std::string on_customers(const std::string& update, int id = 1004) {
    return R"({"update": "customers", "updates": [{"q": {"_id": )" + std::to_string(id) +
           R"(}, "u": )" + update + "}]}";
}

std::vector<op_row> crud_operations() {
    const std::string db = "s_crud";
    return {
        {"insert _id 1004",
         {{db, R"({"insert": "customers", "documents": [{"_id": 1004, "first_name": "Anne",
               "last_name": "Kretchmar", "email": "annek@noanswer.org"}]})"}}},
        {"$set first_name", {{db, on_customers(R"({"$set": {"first_name": "Anne Marie"}})")}}},
        {"$unset email", {{db, on_customers(R"({"$unset": {"email": ""}})")}}},
        {"$rename last_name surname",
         {{db, on_customers(R"({"$rename": {"last_name": "surname"}})")}}},
        {"$inc n, $push tags",
         {{db, on_customers(R"({"$inc": {"n": 1}, "$push": {"tags": "a"}})")}}},
        {"$push tags each",
         {{db, on_customers(R"({"$push": {"tags": {"$each": ["b", "c", "d"]}}})")}}},
        {"pipeline update truncating tags",
         {{db, on_customers(R"({"first_name": "Anne Marie", "surname": "Kretchmar", "n": 1,
                                "tags": ["a", "b"]})")}}},
        {"nested $set a.b.c", {{db, on_customers(R"({"$set": {"a.b.c": 1}})")}}},
        {"no-op update", {{db, on_customers(R"({"$set": {"a.b.c": 1}})")}}},
        {"replace", {{db, on_customers(R"({"x": 1})")}}},
        {"upsert",
         {{db, R"({"update": "customers", "updates": [{"q": {"_id": 1005}, "u": {"$set": {"y": 2}},
               "upsert": true}]})"}}},
        {"delete 1004",
         {{db, R"({"delete": "customers", "deletes": [{"q": {"_id": 1004}, "limit": 1}]})"}}},
        {"delete_many",
         {{db, R"({"insert": "customers", "documents": [{"_id": 0}, {"_id": 1}, {"_id": 2}]})"},
          {db, R"({"delete": "customers", "deletes": [{"q": {"_id": {"$lt": 3}}, "limit": 0}]})"}}},
    };
}

std::vector<op_row> lookup_operations() {
    const std::string db = "s_lookup";
    const std::string start =
        R"({"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": )";
    return {
        {"insert {_id:1,a:1}", {{db, R"({"insert": "c", "documents": [{"_id": 1, "a": 1}]})"}}},
        {"$set a 2", {{db, start + "2}}}]}"}}},
        {"$set a 3", {{db, start + "3}}}]}"}}},
        {"delete before the lookup is read",
         {{db, R"({"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]})"}}},
    };
}

std::vector<op_row> types_operations() {
    const std::string db = "s_types";
    std::vector<op_row> out;
    // Done by replay::insert_every_type.
    out.push_back({"insert every type", {}});
    const std::vector<std::pair<std::string, std::string>> ids = {
        {"1234", "1234"},
        {"12.34", "12.34"},
        {"'1234'", R"("1234")"},
        {"SON([('hi', 'kafka'), ('nums', [10.0, 100.0, 1000.0])])",
         R"({"hi": "kafka", "nums": [10.0, 100.0, 1000.0]})"},
        {"ObjectId('596e275826f08b2730779e1f')", R"({"$oid": "596e275826f08b2730779e1f"})"},
        {"b'kafka'", R"({"$binary": {"base64": "a2Fma2E=", "subType": "00"}})"},
        {"1004", R"({"$numberLong": "1004"})"},
        {"9007199254740993", R"({"$numberLong": "9007199254740993"})"},
        {"10.0", R"({"$numberDouble": "10.0"})"},
        {"nan", R"({"$numberDouble": "NaN"})"},
        {"inf", R"({"$numberDouble": "Infinity"})"},
        {"Decimal128('1.10')", R"({"$numberDecimal": "1.10"})"},
        {"True", "true"},
        {"None", "null"},
        {"datetime.datetime(2020, 2, 29, 12, 0, 0, 1000)",
         R"({"$date": {"$numberLong": "1582977600001"}})"},
        {"Timestamp(1, 2)", R"({"$timestamp": {"t": 1, "i": 2}})"},
        {R"(Binary(b'\x00\x11"3DUfw\x88\x99\xaa\xbb\xcc\xdd\xee\xff', 4))",
         R"({"$binary": {"base64": "ABEiM0RVZneImaq7zN3u/w==", "subType": "04"}})"},
        {"MinKey()", R"({"$minKey": 1})"},
        {"MaxKey()", R"({"$maxKey": 1})"},
        {"{}", "{}"},
        {R"('quote"\\/\n)"
         "\xc3\xa9'",
         R"("quote\"\\/\n\u00e9")"},
        {"Code('x', None)", R"({"$code": "x"})"},
        {"Regex('^a', re.IGNORECASE)",
         R"({"$regularExpression": {"pattern": "^a", "options": "i"}})"},
    };
    for (const auto& [name, json] : ids) {
        out.push_back(
            {"insert _id " + name,
             {{db, R"({"insert": "ids", "documents": [{"_id": )" + json + R"(, "v": 1}]})"}}});
        out.push_back({"update _id " + name,
                       {{db, R"({"update": "ids", "updates": [{"q": {"_id": )" + json +
                                 R"(}, "u": {"$set": {"v": 2}}}]})"}}});
        out.push_back({"delete _id " + name,
                       {{db, R"({"delete": "ids", "deletes": [{"q": {"_id": )" + json +
                                 R"(}, "limit": 1}]})"}}});
    }
    for (const char* ms :
         {"253402300800000", "-62135596800001", "9223372036854775807", "-9223372036854775808"})
        out.push_back({std::string("insert far date ") + ms,
                       {{db, R"({"insert": "t", "documents": [{"_id": "far)" + std::string(ms) +
                                 R"(", "far": {"$date": {"$numberLong": ")" + ms + R"("}}}]})"}}});
    return out;
}

std::vector<op_row> heartbeat_operations() {
    std::string docs;
    for (int n = 0; n < 50; ++n)
        docs += (n == 0 ? "" : ", ") + std::string(R"({"n": )") + std::to_string(n) + "}";
    return {
        {"writes elsewhere", {{"s_elsewhere", R"({"insert": "c", "documents": [)" + docs + "]}"}}}};
}

} // namespace

TEST_CASE("stand-in: recording crud", "[standin][recordings]") {
    replay r("crud", "s_crud");
    r.open();
    r.operate(crud_operations());
    r.compare_events();
    r.compare_oplog();
}

TEST_CASE("stand-in: recording lookup", "[standin][recordings]") {
    replay r("lookup", "s_lookup");
    r.open();
    r.operate(lookup_operations());
    r.compare_events();
    r.compare_oplog();
}

TEST_CASE("stand-in: recording types", "[standin][recordings]") {
    replay r("types", "s_types");
    r.open();
    r.operate(types_operations());
    r.compare_events();
    r.compare_oplog();
}

TEST_CASE("stand-in: recording heartbeat_tokens", "[standin][recordings]") {
    replay r("heartbeat_tokens", "s_heartbeat_tokens");
    r.open();
    r.operate(heartbeat_operations());
    int replies = 0;
    for (const auto& row : r.rows) {
        if (!row.reply_shape)
            continue;
        ++replies;
        REQUIRE(row.count == 0);
        const auto reply = r.get_more(1);
        CHECK(bson::find_path(reply, "cursor.nextBatch")->as_document().empty());
        replay::check_shape(row, reply);
        replay::check_position(row, reply);
        // The quiet stream's position is the time of the last write elsewhere.
        CHECK(token_data(bson::find_path(reply, "cursor.postBatchResumeToken")->as_document()) ==
              standin::resume_token::high_water(r.set.last_time()).data());
    }
    CHECK(replies == 6);
}
