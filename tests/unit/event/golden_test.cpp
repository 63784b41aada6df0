// SPDX-License-Identifier: Apache-2.0
#include "core/bson/base64.hpp"
#include "core/event/envelope.hpp"
#include "sources/mongodb/streaming/decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_data.hpp"

#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <vector>

// Input and output of runs of the Debezium engine on a real server (tests/data/golden): the change
// documents the server sent, and the records the engine made of them, tombstones left out. Our
// records are compared with them byte for byte, after the differences that are meant have been put
// into the expected text. Those are, with the reason:
//   version           source.version is this program's
//   top-level ts_ms   the wall clock of the connector
//   rs                in the shape `current`, source.rs (schema and payload) is kept from older
//                     versions
//   collections       the engine counts the collections of a transaction in the order of a hash
//                     map, here they are in the order of their first appearance
//   after of updates  in the update_full runs, what a lookup found at that moment, which the change
//                     documents do not have
// Records of the copy that came first (op r) and heartbeats are left out; so is the END that 1.9.7
// writes twice.

using namespace cdc;

namespace {

constexpr std::string_view version = "0.0.1-test";
constexpr std::int64_t now_ms = 1234567890123;

struct golden_record {
    std::string topic;
    std::string key;
    std::string value;
};

std::vector<std::string> lines_of(const std::string& name) {
    std::ifstream file{test::data_path("golden/" + name)};
    std::vector<std::string> out;
    for (std::string line; std::getline(file, line);)
        out.push_back(line);
    return out;
}

/// One run of the engine.
struct run {
    std::string name;
    std::string engine_version;
    event::event_shape shape = event::event_shape::current;
    bool lookups = false;
    std::size_t updates_with_document = 0; ///< how many lookups found something
    event::name_adjustment schema_names = event::name_adjustment::none;
};

std::vector<golden_record> golden_records(const run& r) {
    std::vector<golden_record> out;
    simdjson::dom::parser parser;
    for (const std::string& line : lines_of(r.name + ".jsonl")) {
        simdjson::dom::element record = parser.parse(line);
        golden_record g{std::string{std::string_view{record["topic"]}},
                        std::string{std::string_view{record["key"]}},
                        std::string{std::string_view{record["value"]}}};
        const bool is_copy = g.value.find(R"("op":"r","ts_ms")") != std::string::npos;
        const bool is_heartbeat = g.topic.starts_with("__debezium-heartbeat");
        const bool is_repeated = g.topic == "fulfillment.transaction" &&
                                 std::ranges::any_of(out, [&](const golden_record& earlier) {
                                     return earlier.value == g.value;
                                 });
        if (!is_copy && !is_heartbeat && !is_repeated)
            out.push_back(std::move(g));
    }
    return out;
}

std::vector<std::vector<std::uint8_t>> golden_changes(const run& r) {
    std::vector<std::vector<std::uint8_t>> out;
    simdjson::dom::parser parser;
    for (const std::string& line : lines_of(r.name + ".input.jsonl")) {
        std::string_view change;
        simdjson::dom::element row = parser.parse(line);
        if (row["change"].get_string().get(change) != simdjson::SUCCESS)
            continue; // an oplog entry of the same operations
        auto bytes = bson::read_base64(change);
        REQUIRE(bytes);
        out.push_back(std::move(*bytes));
    }
    return out;
}

std::size_t replace_all(std::string& text, const std::regex& what, const std::string& by) {
    const auto count = static_cast<std::size_t>(std::distance(
        std::sregex_iterator{text.begin(), text.end(), what}, std::sregex_iterator{}));
    text = std::regex_replace(text, what, by);
    return count;
}

/// How often each allowed difference was put into the expected texts.
struct allowed {
    std::size_t version = 0;
    std::size_t ts_ms = 0;
    std::size_t rs_schema = 0;
    std::size_t rs = 0;
    std::size_t collections = 0;
    std::size_t looked_up = 0;
};

std::string expected_value(const run& r, std::string value, allowed& count) {
    const std::regex engine_version{R"re("version":")re" + r.engine_version + R"re(")re"};
    static const std::regex connector_time{R"re("op":"([a-z])","ts_ms":\d+,"transaction":)re"};
    static const std::regex collection_schema{
        R"re(\{"type":"string","optional":false,"field":"collection"\})re"};
    static const std::regex collection{R"re(,"collection":)re"};
    static const std::regex counts{
        R"re("data_collections":\[(\{[^}]*golden\.orders[^}]*\}),(\{[^}]*\})\])re"};
    static const std::regex after_of_update{
        R"re("after":"(?:[^"\\]|\\.)*"(.*,"updateDescription":\{))re"};
    const std::string our_version = R"re("version":")re" + std::string{version} + R"re(")re";
    const std::string our_time =
        R"re("op":"$1","ts_ms":)re" + std::to_string(now_ms) + R"re(,"transaction":)re";
    count.version += replace_all(value, engine_version, our_version);
    count.ts_ms += replace_all(value, connector_time, our_time);
    if (r.shape == event::event_shape::current) {
        count.rs_schema += replace_all(value, collection_schema,
                                       R"re({"type":"string","optional":false,"field":"rs"},$&)re");
        count.rs += replace_all(value, collection, R"re(,"rs":"set"$&)re");
    }
    count.collections += replace_all(value, counts, R"re("data_collections":[$2,$1])re");
    if (r.lookups)
        count.looked_up += replace_all(value, after_of_update, R"re("after":null$1)re");
    return value;
}

} // namespace

TEST_CASE("the golden runs come out record for record", "[event][golden]") {
    const run runs[] = {
        {"v3-change_streams", R"(3\.6\.1\.Final)"},
        {"v3-update_full", R"(3\.6\.1\.Final)", event::event_shape::current, true, 1},
        {"v3-pre_image", R"(3\.6\.1\.Final)"},
        {"v3-avro_names_heartbeat", R"(3\.6\.1\.Final)", event::event_shape::current, true, 1,
         event::name_adjustment::avro},
        {"v1-update_full", R"(1\.9\.7\.Final)", event::event_shape::v1_8, true, 0},
    };
    for (const run& r : runs) {
        INFO(r.name);
        const auto golden = golden_records(r);
        const auto changes = golden_changes(r);
        REQUIRE(golden.size() == 138);
        REQUIRE(changes.size() == 136);

        auto topics =
            std::make_shared<event::topic_table>(event::naming{"fulfillment", ".", r.schema_names});
        const std::string set = r.shape == event::event_shape::current ? "set" : "rs0";
        // With the bare words for NaN and the infinities that the engine prints.
        event::envelope::options options;
        options.connector = {std::string{version}, "fulfillment", set, r.shape};
        options.formats = event::formats_of(event::json_serialization_mode::legacy, true);
        options.transactions = true;
        event::envelope envelope{options, topics};
        event::record_batch_builder builder{1};
        for (const auto& bytes : changes) {
            const auto change = bson::view::from(bytes);
            REQUIRE(change);
            const auto event = mongodb::streaming::decode(*change);
            REQUIRE(event);
            if (envelope.transaction().is_over_before(*event))
                envelope.write_transaction_end(builder);
            REQUIRE(envelope.write(*event, now_ms, builder));
        }
        const auto batch = builder.finish();

        allowed count;
        std::size_t tombstones = 0;
        std::size_t at = 0;
        for (std::size_t i = 0; i < batch->size(); ++i) {
            const event::record ours = (*batch)[i];
            if (!ours.value) {
                ++tombstones;
                continue;
            }
            REQUIRE(at < golden.size());
            const golden_record& g = golden[at++];
            INFO("record " << at);
            CHECK(ours.topic == g.topic);
            CHECK(ours.key == g.key);
            CHECK(*ours.value == expected_value(r, g.value, count));
        }
        CHECK(at == golden.size());
        CHECK(tombstones == 24);

        // The allowed differences occurred where they must and nowhere else.
        const std::size_t with_rs = r.shape == event::event_shape::current ? changes.size() : 0;
        CHECK(count.version == changes.size());
        CHECK(count.ts_ms == changes.size());
        CHECK(count.rs_schema == with_rs);
        CHECK(count.rs == with_rs);
        CHECK(count.collections == (r.shape == event::event_shape::current ? 1 : 0));
        CHECK(count.looked_up == r.updates_with_document);
        CHECK(topics->take_clashes().empty());
    }
}

// The engine 1.9.7 in its oplog mode writes the envelope of 1.8; what the shape 1.4 has in common
// with it is compared.
TEST_CASE("the shape 1.4 has patch and filter as the oplog mode had", "[event][golden]") {
    const run r{"v1-oplog", ""};
    const auto golden = golden_records(r);
    const auto changes = golden_changes(r);
    REQUIRE(golden.size() == 136);
    REQUIRE(changes.size() == 136);
    event::envelope envelope{
        {{std::string{version}, "fulfillment", "rs0", event::event_shape::v1_4},
         true,
         false,
         event::formats_of(event::json_serialization_mode::legacy, true)},
        std::make_shared<event::topic_table>("fulfillment")};
    for (std::size_t i = 0; i < golden.size(); ++i) {
        INFO("record " << i);
        event::record_batch_builder builder{1};
        const auto event = mongodb::streaming::decode(*bson::view::from(changes[i]));
        REQUIRE(event);
        REQUIRE(envelope.write(*event, now_ms, builder));
        const auto batch = builder.finish();
        REQUIRE(batch->size() == 1);
        const std::string ours{*(*batch)[0].value};

        // after, patch and filter, up to where the shapes differ.
        const auto change_of = [](const std::string& value, std::string_view next) {
            const auto begin = value.find(R"("payload":{"after":)");
            const auto end = value.find(next, begin);
            REQUIRE(begin != std::string::npos);
            REQUIRE(end != std::string::npos);
            return value.substr(begin, end - begin);
        };
        CHECK((*batch)[0].key == golden[i].key);
        CHECK(change_of(ours, R"(,"source":{)") ==
              change_of(golden[i].value, R"(,"updateDescription":)"));

        simdjson::dom::parser parser;
        simdjson::dom::element value = parser.parse(ours);
        CHECK(ours.find("updateDescription") == std::string::npos);
        for (const char* field : {"h", "tord", "stxnid"})
            CHECK(value["payload"]["source"][field].is_null());
        for (const char* field : {"lsid", "txnNumber", "sequence", "wallTime", "ts_us"}) {
            CHECK(value["payload"]["source"][field].error() == simdjson::NO_SUCH_FIELD);
            CHECK(ours.find(std::string{R"("field":")"} + field) == std::string::npos);
        }
        CHECK(std::string_view{value["payload"]["source"]["rs"]} == "rs0");
    }
}

TEST_CASE("what is written is JSON all the way down", "[event][golden]") {
    auto topics = std::make_shared<event::topic_table>("fulfillment");
    event::envelope envelope{{{std::string{version}, "fulfillment", "set"}, true, true}, topics};
    event::record_batch_builder builder{1};
    for (const auto& bytes : golden_changes({"v3-pre_image", ""})) {
        const auto event = mongodb::streaming::decode(*bson::view::from(bytes));
        REQUIRE(event);
        REQUIRE(envelope.write(*event, now_ms, builder));
    }
    const auto batch = builder.finish();
    simdjson::dom::parser parser;
    simdjson::dom::parser inner_parser;
    std::size_t inside = 0;
    for (std::size_t i = 0; i < batch->size(); ++i) {
        const event::record r = (*batch)[i];
        if (!r.value)
            continue;
        simdjson::dom::element value;
        REQUIRE(parser.parse(r.value->data(), r.value->size()).get(value) == simdjson::SUCCESS);
        const auto check_inner = [&](simdjson::simdjson_result<simdjson::dom::element> text) {
            std::string_view inner;
            if (text.get_string().get(inner) != simdjson::SUCCESS)
                return;
            CHECK(inner_parser.parse(inner.data(), inner.size()).error() == simdjson::SUCCESS);
            ++inside;
        };
        check_inner(value["payload"]["before"]);
        check_inner(value["payload"]["after"]);
        check_inner(value["payload"]["updateDescription"]["updatedFields"]);
    }
    CHECK(inside > 150);
}
