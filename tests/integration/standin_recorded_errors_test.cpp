// SPDX-License-Identifier: Apache-2.0
// The recording of single questions and errors (see standin_recordings_test.cpp for what cannot be
// equal), and the proof that the comparison can fail.
#include "core/bson/builder.hpp"
#include "tests/integration/standin_recording_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/standin/replica_set.hpp"
#include "tests/support/standin/resume_token.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/wire/wire_client.hpp"

#include <map>
#include <set>

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;
namespace wire = cdc::test::wire;

using namespace cdc::test::standin;

namespace {

bson::document only_first_of(bson::view reply, std::string_view list) {
    bson::builder b;
    for (bson::cursor c{reply}; c.next();) {
        if (c.name() != list) {
            b.value(c.name(), c);
            continue;
        }
        bson::builder first;
        bson::cursor e{c.as_document()};
        e.next();
        first.value("0", e);
        b.array(list, first.finish());
    }
    return b.finish();
}

} // namespace

TEST_CASE("stand-in: recording errors", "[standin][recordings]") {
    const std::set<std::string> not_asked = {"replSetGetStatus", "collStats", "explain"};
    const std::map<std::string, std::string> other_databases = {
        {"isMaster", "admin"}, {"hello", "admin"},         {"buildInfo", "admin"},
        {"ping", "admin"},     {"listDatabases", "admin"}, {"find", "local"}};
    standin::replica_set set;
    wire::client client(set.port());
    int asked = 0;
    int failures = 0;
    int events = 0;
    std::int64_t first_stream = 0;
    for (const auto& row :
         standin::read_recording(cdc::test::data_path("recordings/errors.jsonl"))) {
        if (row.event) {
            // The first stream, opened before all the rest, sees an insert after it.
            ++events;
            set.insert("s_errors", "c", bson::find(*row.event, "fullDocument")->as_document());
            bson::builder b;
            b.int64("getMore", first_stream).string("collection", "$cmd.aggregate");
            const auto more = ask(client, "s_errors", b.finish());
            check_equal("event", *row.event,
                        bson::find_path(more, "cursor.nextBatch.0")->as_document(),
                        unequal_in_events);
        }
        if (!row.command)
            continue;
        bson::cursor first{*row.command};
        first.next();
        const std::string name(first.name());
        const auto natural = bson::find_path(*row.command, "sort.$natural");
        if (not_asked.contains(name) || (natural && natural->as_int32() == -1))
            continue;
        const bool cluster =
            bson::find_path(*row.command, "pipeline.0.$changeStream.allChangesForCluster")
                .has_value();
        const auto at = other_databases.find(name);
        const std::string db = cluster                       ? "admin"
                               : at == other_databases.end() ? "s_errors"
                                                             : at->second;
        const std::string shown = standin::describe(*row.command);
        INFO(shown);
        ++asked;
        failures += row.code.has_value();
        auto expected = row.reply->clone();
        auto reply = ask(client, db, *row.command);
        CHECK(ticks_ahead(expected) == ticks_ahead(reply));
        if (first_stream == 0)
            first_stream = bson::find_path(reply, "cursor.id")->as_int64();
        if (name == "listDatabases") {
            expected = only_first_of(expected, "databases");
            reply = only_first_of(reply, "databases");
        }
        if (name == "buildInfo")
            expected = without(expected, {"psmdbVersion"});
        auto unequal = unequal_in_replies;
        if (name == "find")
            unequal.insert(unequal.end(), {"cursor.firstBatch.0.ts", "cursor.firstBatch.0.wall"});
        check_equal(shown, expected, reply, unequal);
        if (row.code)
            CHECK(bson::find(reply, "code")->as_int32() == *row.code);
    }
    CHECK(asked == 17);
    CHECK(events == 1);
    CHECK(failures == 6);
}

TEST_CASE("stand-in: the comparison with recordings finds differences", "[standin][recordings]") {
    const auto rows = standin::read_recording(cdc::test::data_path("recordings/types.jsonl"));
    bson::document event;
    for (const auto& row : rows)
        if (row.event &&
            bson::find_path(*row.event, "documentKey._id")->kind() == bson::type::decimal128) {
            event = row.event->clone();
            break;
        }
    REQUIRE(!event.view().empty());
    CHECK(standin::differences(event, event, unequal_in_events).empty());

    const auto changed = [&](auto change) {
        bson::builder b;
        for (bson::cursor c{event}; c.next();)
            change(b, c);
        return standin::differences(event, b.finish(), unequal_in_events).size();
    };
    CHECK(changed([](bson::builder& b, const bson::cursor& c) { b.value(c.name(), c); }) == 0);
    CHECK(changed([](bson::builder& b, const bson::cursor& c) {
              if (c.name() == "clusterTime")
                  b.timestamp("clusterTime", {1, 1}); // a clock, allowed
              else
                  b.value(c.name(), c);
          }) == 0);
    CHECK(changed([](bson::builder& b, const bson::cursor& c) {
              if (c.name() == "clusterTime")
                  b.int64("clusterTime", 1); // another type
              else
                  b.value(c.name(), c);
          }) == 1);
    CHECK(changed([](bson::builder& b, const bson::cursor& c) {
              if (c.name() == "operationType")
                  b.string("operationType", "replace"); // another value
              else
                  b.value(c.name(), c);
          }) == 1);
    CHECK(changed([](bson::builder& b, const bson::cursor& c) {
              if (c.name() != "documentKey") // lacking
                  b.value(c.name(), c);
          }) == 1);
    CHECK(changed([](bson::builder& b, const bson::cursor& c) {
              b.value(c.name() == "ns"             ? "fullDocument"
                      : c.name() == "fullDocument" ? "ns"
                                                   : c.name(),
                      c);
          }) >= 1); // another order
    CHECK(changed([](bson::builder& b, const bson::cursor& c) {
              if (c.name() != "_id") {
                  b.value(c.name(), c);
                  return;
              }
              auto data = token_data(c.as_document());
              data[data.size() - 8] = data[data.size() - 8] == '0' ? '1' : '0'; // in the key
              bson::builder token;
              token.string("_data", data)
                  .value("_typeBits", *bson::find(c.as_document(), "_typeBits"));
              b.document("_id", token.finish());
          }) == 1);
}
