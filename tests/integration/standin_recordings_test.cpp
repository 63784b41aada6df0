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
#include "core/bson/builder.hpp"
#include "tests/integration/standin_recording_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/standin/replica_set.hpp"
#include "tests/support/standin/resume_token.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/wire/wire_client.hpp"

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;
namespace wire = cdc::test::wire;

using namespace cdc::test::standin;

namespace {

struct command_row {
    std::string db;
    std::string json;
};

struct op_row {
    std::string op; ///< its name in the recording
    std::vector<command_row> commands;
};

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

/// A recording of the kind: open a stream, do operations, read all events.
class replay {
  public:
    replay(const std::string& name, std::string db)
        : rows(standin::read_recording(cdc::test::data_path("recordings/" + name + ".jsonl")))
        , db_(std::move(db)) {}

    std::vector<standin::recorded_row> rows;
    standin::replica_set set;
    wire::client client{set.port()};

    void open() {
        REQUIRE(rows.at(0).command);
        const auto reply = ask(client, db_, *rows[0].command);
        check_equal("opening the stream", *rows[0].reply, reply, unequal_in_replies);
        cursor_ = bson::find_path(reply, "cursor.id")->as_int64();
        collection_ = bson::find_path(reply, "cursor.ns")->as_string().substr(db_.size() + 1);
        // The first token is one tick behind the last entry.
        auto expected = set.last_time();
        ++expected.i;
        CHECK(token_data(bson::find_path(reply, "cursor.postBatchResumeToken")->as_document()) ==
              standin::resume_token::high_water(expected).data());
    }

    void operate(const std::vector<op_row>& table) {
        std::size_t next = 0;
        for (const auto& row : rows) {
            if (row.op.empty())
                continue;
            INFO(row.op);
            REQUIRE(next < table.size());
            REQUIRE(table[next].op == row.op);
            if (row.op == "insert every type") {
                insert_every_type();
                ++next;
                continue;
            }
            for (const auto& command : table[next].commands)
                check_write(row, ask(client, command.db, standin::from_json(command.json)));
            ++next;
        }
        CHECK(next == table.size());
    }

    void compare_events() {
        std::vector<const standin::recorded_row*> expected;
        const standin::recorded_row* last_reply = nullptr;
        for (const auto& row : rows) {
            if (row.event)
                expected.push_back(&row);
            if (row.reply_shape)
                last_reply = &row;
        }
        REQUIRE(!expected.empty());
        REQUIRE(last_reply != nullptr);
        std::size_t next = 0;
        bson::document reply;
        while (next < expected.size()) {
            reply = get_more(1000);
            const auto batch = bson::find_path(reply, "cursor.nextBatch")->as_document();
            REQUIRE(!batch.empty());
            for (bson::cursor e{batch}; e.next(); ++next) {
                REQUIRE(next < expected.size());
                check_equal("event " + std::to_string(next) + " " +
                                standin::describe(*bson::find(*expected[next]->event, "_id")),
                            *expected[next]->event, e.as_document(), unequal_in_events);
            }
            check_shape(*last_reply, reply);
        }
        check_position(*last_reply, reply);
        // Nothing more comes, and the position stays.
        reply = get_more(1);
        CHECK(bson::find_path(reply, "cursor.nextBatch")->as_document().empty());
        check_position(*last_reply, reply);
    }

    void compare_oplog() {
        std::vector<bson::document> expected;
        for (const auto& row : rows)
            if (row.oplog)
                expected.push_back(
                    without(*row.oplog, {"lsid", "txnNumber", "stmtId", "prevOpTime"}));
        REQUIRE(!expected.empty());
        const auto reply = ask(client, "local", standin::from_json(R"({"find": "oplog.rs", "filter":
            {"op": {"$ne": "n"}}, "batchSize": 10000})"));
        std::size_t next = 0;
        for (bson::cursor e{bson::find_path(reply, "cursor.firstBatch")->as_document()}; e.next();
             ++next) {
            REQUIRE(next < expected.size());
            check_equal("oplog entry " + std::to_string(next), expected[next], e.as_document(),
                        unequal_in_oplog);
        }
        CHECK(next == expected.size());
    }

    bson::document get_more(int wait_ms) {
        bson::builder b;
        b.int64("getMore", cursor_).string("collection", collection_).int32("maxTimeMS", wait_ms);
        return ask(client, db_, b.finish());
    }

    /// Names and order of a getMore's reply.
    static void check_shape(const standin::recorded_row& recorded, bson::view reply) {
        bson::cursor x{*recorded.reply_shape};
        bson::cursor y{reply};
        while (x.next()) {
            REQUIRE(y.next());
            CHECK(std::string(x.name()) == std::string(y.name()));
        }
        CHECK_FALSE(y.next());
        std::vector<std::string> names;
        for (bson::cursor c{bson::find(reply, "cursor")->as_document()}; c.next();)
            names.emplace_back(c.name());
        CHECK(names == std::vector<std::string>{"nextBatch", "postBatchResumeToken", "id", "ns"});
    }

    static void check_position(const standin::recorded_row& recorded, bson::view reply) {
        check_equal("position", *recorded.position,
                    bson::find_path(reply, "cursor.postBatchResumeToken")->as_document(), {});
    }

  private:
    /// Every type in one document: what was inserted is what the first event shows.
    void insert_every_type() {
        for (const auto& row : rows) {
            if (!row.event)
                continue;
            bson::builder docs;
            docs.document("0", bson::find(*row.event, "fullDocument")->as_document());
            bson::builder b;
            b.string("insert", "t").array("documents", docs.finish());
            CHECK(bson::find(ask(client, db_, b.finish()), "n")->as_int32() == 1);
            return;
        }
    }

    static void check_write(const standin::recorded_row& row, bson::view reply) {
        CHECK(bson::find(reply, "ok")->truthy());
        const auto failed = bson::find_path(reply, "writeErrors.0");
        REQUIRE(failed.has_value() == row.code.has_value());
        if (!failed)
            return;
        // The client put the server's statement error into its text.
        const auto text = std::string(bson::find(failed->as_document(), "errmsg")->as_string());
        CHECK(bson::find(failed->as_document(), "code")->as_int32() == *row.code);
        CHECK(row.error.starts_with(text + ","));
        std::string fields;
        for (bson::cursor c{failed->as_document()}; c.next();)
            fields += "'" + std::string(c.name()) + "'";
        CHECK(fields == "'index''code''errmsg'");
    }

    std::string db_;
    std::string collection_;
    std::int64_t cursor_ = 0;
};

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
