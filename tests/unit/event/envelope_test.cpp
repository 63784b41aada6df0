// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/event/envelope.hpp"
#include "sources/mongodb/streaming/decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/event/change_documents.hpp"

#include <simdjson.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace cdc;
using mongodb::streaming::decode;
using test::change_document;

namespace {

constexpr std::int64_t now_ms = 1796020169123;

struct connector {
    std::shared_ptr<event::topic_table> topics = std::make_shared<event::topic_table>("shop");

    event::envelope envelope(bool with_schemas, bool tombstones = true) const {
        return {{{"1.2.3", "shop", "rs0"}, with_schemas, tombstones}, topics};
    }
};

/// The records of some change documents, sequence numbers from 100.
template <class... Documents>
std::shared_ptr<const event::record_batch> encode(event::envelope& e, const Documents&... changes) {
    event::record_batch_builder to{100};
    const auto one = [&](const bson::document& change) {
        const auto decoded = decode(change);
        REQUIRE(decoded);
        REQUIRE(e.write(*decoded, now_ms, to));
    };
    (one(changes), ...);
    return to.finish();
}

/// The payload of a record's JSON, which is all of it when there is no schema.
simdjson::dom::element payload(simdjson::dom::parser& parser, std::string_view json) {
    simdjson::dom::element whole = parser.parse(json.data(), json.size(), true);
    simdjson::dom::element inner;
    return whole["payload"].get(inner) == simdjson::SUCCESS ? inner : whole;
}

bson::document insert_of(std::int32_t id, std::string_view collection = "customers") {
    return change_document{"insert"}
        .ns("inventory", collection)
        .key(id)
        .full(bson::builder{}.int32("_id", id).finish())
        .finish();
}

bson::document delete_of(std::int32_t id) {
    return change_document{"delete"}.ns().key(id).finish();
}

} // namespace

TEST_CASE("an insert without schemas is the payload alone", "[event]") {
    auto e = connector{}.envelope(false);
    const auto batch = encode(e, insert_of(7));
    REQUIRE(batch->size() == 1);
    const event::record r = (*batch)[0];
    CHECK(r.topic == "shop.inventory.customers");
    CHECK(r.op == event::operation::create);
    CHECK(r.sequence == 100);
    CHECK(r.index == 0);
    CHECK(r.token == test::event_token);
    CHECK(r.key == R"({"id":"7"})");
    CHECK(*r.value ==
          R"({"before":null,"after":"{\"_id\": 7}","updateDescription":null,)"
          R"("source":{"version":"1.2.3","connector":"mongodb","name":"shop",)"
          R"("ts_ms":1796020168000,"snapshot":"false","db":"inventory","sequence":null,)"
          R"("ts_us":1796020168000000,"ts_ns":1796020168000000000,"rs":"rs0",)"
          R"("collection":"customers","ord":5,"lsid":null,"txnNumber":null,"wallTime":null},)"
          R"("op":"c","ts_ms":1796020169123,"transaction":null})");
}

TEST_CASE("a delete is followed by a tombstone of the same key", "[event]") {
    const connector c;
    for (const bool with_schemas : {false, true}) {
        auto e = c.envelope(with_schemas);
        const auto batch = encode(e, insert_of(1), delete_of(1), insert_of(2));
        REQUIRE(batch->size() == 4);
        const event::record deleted = (*batch)[1];
        const event::record tombstone = (*batch)[2];
        REQUIRE(deleted.value);
        simdjson::dom::parser parser;
        const auto value = payload(parser, *deleted.value);
        CHECK(std::string_view{value["op"]} == "d");
        CHECK(value["after"].is_null());
        CHECK_FALSE(tombstone.value);
        CHECK(tombstone.key == deleted.key);
        CHECK(tombstone.key == (*batch)[0].key);
        CHECK(tombstone.topic == deleted.topic);
        CHECK(tombstone.token == deleted.token);
        CHECK(tombstone.op == event::operation::remove);
        CHECK(deleted.index == 0);
        CHECK(tombstone.index == 1);
        CHECK(tombstone.sequence == 102);
        CHECK((*batch)[3].sequence == 103);
        CHECK((*batch)[3].index == 0);
        if (with_schemas)
            CHECK(tombstone.key ==
                  R"({"schema":{"type":"struct","fields":[{"type":"string","optional":false,)"
                  R"("field":"id"}],"optional":false,"name":"shop.inventory.customers.Key"},)"
                  R"("payload":{"id":"1"}})");
        else
            CHECK(tombstone.key == R"({"id":"1"})");
    }
}

TEST_CASE("tombstones can be turned off", "[event]") {
    auto e = connector{}.envelope(false, false);
    const auto batch = encode(e, delete_of(1), insert_of(2));
    REQUIRE(batch->size() == 2);
    CHECK((*batch)[0].op == event::operation::remove);
    CHECK((*batch)[1].sequence == 101);
}

TEST_CASE("two encodings of a connector make the same records", "[event]") {
    const connector c;
    auto with = c.envelope(true);
    auto without = c.envelope(false);
    const auto a = encode(with, insert_of(1), insert_of(2, "orders"), delete_of(1), insert_of(3));
    const auto b =
        encode(without, insert_of(1), insert_of(2, "orders"), delete_of(1), insert_of(3));
    REQUIRE(a->size() == 5);
    REQUIRE(b->size() == 5);
    for (std::size_t i = 0; i < a->size(); ++i) {
        const event::record x = (*a)[i];
        const event::record y = (*b)[i];
        CHECK(x.sequence == y.sequence);
        CHECK(x.topic.data() == y.topic.data()); // one string for both
        CHECK(x.token == y.token);
        CHECK(x.index == y.index);
        CHECK(x.value.has_value() == y.value.has_value());
        // What stands behind the schema is the other encoding, byte for byte.
        CHECK(x.key.ends_with("\"payload\":" + std::string{y.key} + "}"));
        if (y.value)
            CHECK(x.value->ends_with("\"payload\":" + std::string{*y.value} + "}"));
    }
}

TEST_CASE("an update shows its description", "[event]") {
    auto e = connector{}.envelope(false);
    bson::builder arrays;
    arrays.document("0", bson::builder{}.string("field", "a.\"r\"").int32("newSize", 3).finish());
    const bson::document description =
        bson::builder{}
            .document("updatedFields", bson::builder{}.int64("x", 1).string("y", "z").finish())
            .array("removedFields",
                   bson::builder{}.string("0", "a\\b").string("1", "\U0001f600").finish())
            .array("truncatedArrays", arrays.finish())
            .finish();
    change_document full{"update"};
    full.ns().key().more().document("updateDescription", description).null("fullDocument");
    const bson::document nothing =
        change_document{"update"}.ns().key().update(bson::view{}, bson::view{}).full().finish();
    const bson::document replaced = change_document{"replace"}.ns().key().full().finish();
    const auto batch = encode(e, full.finish(), nothing, replaced);
    REQUIRE(batch->size() == 3);
    CHECK((*batch)[0].value->starts_with(
        R"({"before":null,"after":null,"updateDescription":{"removedFields":["a\\b",")"
        "\U0001f600"
        R"("],"updatedFields":"{\"x\": 1, \"y\": \"z\"}","truncatedArrays":)"
        R"([{"field":"a.\"r\"","size":3}]},"source":{)"));
    CHECK((*batch)[1].value->starts_with(
        R"({"before":null,"after":"{\"_id\": 1}","updateDescription":{"removedFields":null,)"
        R"("updatedFields":"{}","truncatedArrays":null},"source":{)"));
    CHECK((*batch)[2].value->starts_with(
        R"({"before":null,"after":"{\"_id\": 1}","updateDescription":null,"source":{)"));
    for (std::size_t i = 0; i < 3; ++i)
        CHECK((*batch)[i].value->find(R"("op":"u")") != std::string_view::npos);
}

TEST_CASE("fault 19: each json.serialization.mode but legacy has one dialect",
          "[event][fault-19]") {
    using mode = event::json_serialization_mode;
    const bson::document description =
        bson::builder{}
            .document("updatedFields", bson::builder{}.int64("l", 456).int32("i", 7).finish())
            .array("removedFields", bson::view{})
            .finish();
    const bson::document after =
        bson::builder{}.int64("_id", 1).int64("l", 123).float64("n", HUGE_VAL).finish();
    change_document change{"update"};
    change.ns()
        .key(1)
        .more()
        .document("updateDescription", description)
        .document("fullDocument", after);
    const bson::document update = change.finish();
    const struct {
        mode serialization;
        bool bare;
        std::string after;
        std::string updated;
    } cases[] = {
        {mode::legacy, false,
         R"({"_id": {"$numberLong": "1"},"l": {"$numberLong": "123"},"n": {"$numberDouble": "Infinity"}})",
         R"({"l": 456, "i": 7})"},
        {mode::legacy, true,
         R"({"_id": {"$numberLong": "1"},"l": {"$numberLong": "123"},"n": Infinity})",
         R"({"l": 456, "i": 7})"},
        {mode::strict, false,
         R"({"_id": {"$numberLong": "1"},"l": {"$numberLong": "123"},"n": {"$numberDouble": "Infinity"}})",
         R"({"l": {"$numberLong": "456"},"i": 7})"},
        {mode::extended, false,
         R"({"_id": {"$numberLong": "1"},"l": {"$numberLong": "123"},"n": {"$numberDouble": "Infinity"}})",
         R"({"l": {"$numberLong": "456"},"i": {"$numberInt": "7"}})"},
        {mode::relaxed, false, R"({"_id": 1,"l": 123,"n": {"$numberDouble": "Infinity"}})",
         R"({"l": 456,"i": 7})"},
    };
    for (const auto& c : cases) {
        event::envelope e{
            {{"1.2.3", "shop", "rs0"}, false, true, event::formats_of(c.serialization, c.bare)},
            connector{}.topics};
        const auto batch = encode(e, update);
        simdjson::dom::parser parser;
        simdjson::dom::element value = parser.parse(std::string{*(*batch)[0].value});
        CHECK(std::string_view(value["after"]) == c.after);
        CHECK(std::string_view(value["updateDescription"]["updatedFields"]) == c.updated);
        simdjson::dom::parser keys;
        simdjson::dom::element key = keys.parse(std::string{(*batch)[0].key});
        CHECK(std::string_view(key["id"]) == "1");
    }
}

TEST_CASE("the source block takes wall time, session and transaction from the event", "[event]") {
    auto e = connector{}.envelope(false);
    change_document change{"insert"};
    const std::uint8_t id[] = {1, 2};
    change.ns()
        .key()
        .full()
        .more()
        .date_ms("wallTime", 1796020168456)
        .document("lsid", bson::builder{}.binary("id", 4, id).finish())
        .int64("txnNumber", 131)
        .document("fullDocumentBeforeChange", bson::builder{}.int32("old", 1).finish());
    const auto batch = encode(e, change.finish());
    const std::string_view value = *(*batch)[0].value;
    CHECK(value.starts_with(R"({"before":"{\"old\": 1}",)"));
    CHECK(value.find(R"("ts_ms":1796020168456,"snapshot")") != std::string_view::npos);
    CHECK(value.find(R"("ts_us":1796020168456000,"ts_ns":1796020168456000000,)") !=
          std::string_view::npos);
    CHECK(value.find(R"("lsid":"{\"id\": {\"$binary\": \"AQI=\",\"$type\": \"04\"}}",)"
                     R"("txnNumber":131,"wallTime":1796020168456})") != std::string_view::npos);
}

TEST_CASE("clock values that do not fit the schema's types are not made up", "[event]") {
    auto e = connector{}.envelope(false);
    const bson::document change = insert_of(1);
    auto decoded = decode(change);
    REQUIRE(decoded);
    decoded->cluster_time = {4294967295U, 4294967295U};
    event::record_batch_builder to{1};
    REQUIRE(e.write(*decoded, now_ms, to));
    decoded->wall_time_ms = std::numeric_limits<std::int64_t>::max();
    REQUIRE(e.write(*decoded, now_ms, to));
    decoded->wall_time_ms = 0;
    REQUIRE(e.write(*decoded, now_ms, to));
    decoded->wall_time_ms = -1;
    REQUIRE(e.write(*decoded, now_ms, to));
    const auto batch = to.finish();
    CHECK((*batch)[2].value->find(R"("ts_us":0,"ts_ns":0,)") != std::string_view::npos);
    CHECK((*batch)[3].value->find(R"("ts_us":-1000,"ts_ns":-1000000,)") != std::string_view::npos);
    CHECK((*batch)[0].value->find(R"("ts_ns":4294967295000000000,)") != std::string_view::npos);
    CHECK((*batch)[0].value->find(R"("ord":-1,)") != std::string_view::npos);
    CHECK((*batch)[1].value->find(R"("ts_us":null,"ts_ns":null,)") != std::string_view::npos);
}

TEST_CASE("keys are the id alone, whatever it is", "[event]") {
    auto e = connector{}.envelope(false);
    const auto key_of = [&e](const bson::document& document_key) {
        change_document change{"insert"};
        change.ns().full().more().document("documentKey", document_key);
        return std::string{(*encode(e, change.finish()))[0].key};
    };
    CHECK(key_of(bson::builder{}.string("region", "eu").string("_id", "a\"b").finish()) ==
          R"({"id":"\"a\\\"b\""})");
    CHECK(key_of(bson::builder{}.null("_id").finish()) == R"({"id":"null"})");
    CHECK(key_of(bson::builder{}.string("region", "eu").finish()) == R"({"id":"null"})");
    CHECK(key_of(bson::builder{}.int64("_id", 1).finish()) == R"({"id":"1"})");
    const auto ab = bson::builder{}.int32("a", 1).int32("b", 2).finish();
    const auto ba = bson::builder{}.int32("b", 2).int32("a", 1).finish();
    CHECK(key_of(bson::builder{}.document("_id", ab).finish()) ==
          R"({"id":"{\"a\": 1,\"b\": 2}"})");
    CHECK(key_of(bson::builder{}.document("_id", ba).finish()) ==
          R"({"id":"{\"b\": 2,\"a\": 1}"})");
}

TEST_CASE("names of fields the connector uses itself pass untouched", "[event]") {
    auto e = connector{}.envelope(false);
    const bson::document full = bson::builder{}
                                    .int32("_id", 1)
                                    .string("op", "x")
                                    .int32("source", 1)
                                    .int32("documentKey", 5)
                                    .string("ns", "q")
                                    .finish();
    const auto batch = encode(e, change_document{"insert"}.ns().key().full(full).finish());
    CHECK((*batch)[0].value->find(R"("after":"{\"_id\": 1,\"op\": \"x\",\"source\": 1,)"
                                  R"(\"documentKey\": 5,\"ns\": \"q\"}")") !=
          std::string_view::npos);
}

TEST_CASE("events that are no data make no records", "[event]") {
    auto e = connector{}.envelope(true);
    event::record_batch_builder to{1};
    for (const char* type : {"drop", "rename", "invalidate", "somethingNew"}) {
        const bson::document change = change_document{type}.ns().finish();
        const auto decoded = decode(change);
        REQUIRE(decoded);
        REQUIRE(e.write(*decoded, now_ms, to));
    }
    CHECK(to.size() == 0);
    CHECK(to.bytes() == 0);
}

TEST_CASE("a malformed document leaves the batch as it was and is named", "[event]") {
    auto e = connector{}.envelope(true);
    const bson::document good = insert_of(1);
    bson::document bad = change_document{"insert"}
                             .ns()
                             .key()
                             .full(bson::builder{}.string("s", "needle").finish())
                             .finish();
    // The length of the string inside fullDocument.
    auto bytes = std::vector<std::uint8_t>(bad.view().bytes().begin(), bad.view().bytes().end());
    const std::string_view all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    bytes[all.find("needle") - 4] = 200;
    const auto broken = bson::view::from(bytes);
    REQUIRE(broken);

    event::record_batch_builder to{5};
    REQUIRE(e.write(*decode(good), now_ms, to));
    const auto size = to.size();
    const auto byte_count = to.bytes();
    const auto decoded = decode(*broken);
    REQUIRE(decoded);
    const auto written = e.write(*decoded, now_ms, to);
    REQUIRE_FALSE(written);
    CHECK(written.error().code == error::errc::bad_data);
    CHECK(written.error().text.find("inventory.customers") != std::string::npos);
    CHECK(written.error().text.find(test::event_token) != std::string::npos);
    CHECK(written.error().text.find("fullDocument") != std::string::npos);
    CHECK(to.size() == size);
    CHECK(to.bytes() == byte_count);
    REQUIRE(e.write(*decode(good), now_ms, to));
    const auto batch = to.finish();
    REQUIRE(batch->size() == 2);
    CHECK((*batch)[1].sequence == 6);
    CHECK((*batch)[1].key == (*batch)[0].key);
    CHECK(*(*batch)[1].value == *(*batch)[0].value);
}
