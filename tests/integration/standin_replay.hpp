// SPDX-License-Identifier: Apache-2.0
// Replays a recording of the kind: a stream is opened, things are done, its events are read.
#pragma once

#include "tests/integration/standin_recording_check.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/standin/replica_set.hpp"
#include "tests/support/standin/resume_token.hpp"
#include "tests/support/test_data.hpp"

#include <algorithm>

namespace cdc::test::standin {

struct command_row {
    std::string db;
    std::string json;
};

struct op_row {
    std::string op; ///< its name in the recording
    std::vector<command_row> commands;
};

/// A recording of the kind: open a stream, do operations, read all events.
class replay {
  public:
    replay(const std::string& name, std::string db)
        : rows(read_recording(data_path("recordings/" + name + ".jsonl")))
        , db_(std::move(db)) {}

    std::vector<recorded_row> rows;
    replica_set set;
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
              resume_token::high_water(expected).data());
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
                check_write(row, ask(client, command.db, from_json(command.json)));
            ++next;
        }
        CHECK(next == table.size());
    }

    void compare_events() {
        std::vector<const recorded_row*> expected;
        const recorded_row* last_reply = nullptr;
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
                                describe(*bson::find(*expected[next]->event, "_id")),
                            *expected[next]->event, e.as_document(), unequal_in_events);
            }
            check_shape(*last_reply, reply);
        }
        check_position(*last_reply, reply);
        if (bson::find_path(reply, "cursor.id")->as_int64() == 0)
            return;
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
        const auto reply = ask(client, "local", from_json(R"({"find": "oplog.rs", "filter":
            {"op": {"$ne": "n"}}, "batchSize": 10000})"));
        std::vector<bson::document> answered;
        for (bson::cursor e{bson::find_path(reply, "cursor.firstBatch")->as_document()}; e.next();)
            answered.push_back(bson::document::copy_of(e.as_document()));
        sort_drops(expected);
        sort_drops(answered);
        for (std::size_t i = 0; i < std::min(expected.size(), answered.size()); ++i)
            check_equal("oplog entry " + std::to_string(i), expected[i], answered[i],
                        unequal_in_oplog);
        CHECK(answered.size() == expected.size());
    }

    bson::document get_more(int wait_ms) {
        bson::builder b;
        b.int64("getMore", cursor_).string("collection", collection_).int32("maxTimeMS", wait_ms);
        return ask(client, db_, b.finish());
    }

    /// Names and order of a getMore's reply.
    static void check_shape(const recorded_row& recorded, bson::view reply) {
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

    static void check_position(const recorded_row& recorded, bson::view reply) {
        check_equal("position", *recorded.position,
                    bson::find_path(reply, "cursor.postBatchResumeToken")->as_document(), {});
    }

  private:
    /// Drops in a row by name: a database's are in no particular order.
    static void sort_drops(std::vector<bson::document>& entries) {
        const auto dropped = [](const bson::document& e) {
            const auto name = bson::find_path(e, "o.drop");
            return std::string(name ? name->as_string() : std::string_view());
        };
        for (auto at = entries.begin(); at != entries.end();) {
            const auto end =
                std::find_if(at, entries.end(), [&](const auto& e) { return dropped(e).empty(); });
            std::sort(at, end,
                      [&](const auto& a, const auto& b) { return dropped(a) < dropped(b); });
            at = end == entries.end() ? end : end + 1;
        }
    }

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

    static void check_write(const recorded_row& row, bson::view reply) {
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

} // namespace cdc::test::standin
