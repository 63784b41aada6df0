// SPDX-License-Identifier: Apache-2.0
#include "core/bson/base64.hpp"
#include "core/event/envelope.hpp"
#include "sources/mongodb/streaming/decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_data.hpp"

#include <simdjson.h>

#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <vector>

// Input and output of one run of the Debezium engine 3.6.1.Final on a real server
// (tests/data/golden/v3-change_streams): the change documents the server sent, and the records the
// engine made of them, tombstones left out. Our records are compared with them byte for byte, after
// the differences that are meant have been put into the expected text. Those are, with the reason:
//   version           source.version is this program's
//   top-level ts_ms   the wall clock of the connector
//   rs                source.rs (schema and payload): ours only, kept from older versions
//   transaction       the run had provide.transaction.metadata on; records of the topic
//                     `<prefix>.transaction` and transaction blocks are not made yet
//   NaN, Infinity     the engine prints bare words in `after`, which is not JSON

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

std::vector<golden_record> golden_records() {
    std::vector<golden_record> out;
    simdjson::dom::parser parser;
    for (const std::string& line : lines_of("v3-change_streams.jsonl")) {
        simdjson::dom::element record = parser.parse(line);
        golden_record r{std::string{std::string_view{record["topic"]}},
                        std::string{std::string_view{record["key"]}},
                        std::string{std::string_view{record["value"]}}};
        if (r.topic != "fulfillment.transaction")
            out.push_back(std::move(r));
    }
    return out;
}

std::vector<std::vector<std::uint8_t>> golden_changes() {
    std::vector<std::vector<std::uint8_t>> out;
    simdjson::dom::parser parser;
    for (const std::string& line : lines_of("v3-change_streams.input.jsonl")) {
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
    std::size_t transaction = 0;
    std::size_t bare_numbers = 0;
};

std::string expected_value(std::string value, allowed& count) {
    static const std::regex engine_version{R"re("version":"3\.6\.1\.Final")re"};
    static const std::regex connector_time{R"re("op":"([a-z])","ts_ms":\d+,"transaction":)re"};
    static const std::regex collection_schema{
        R"re(\{"type":"string","optional":false,"field":"collection"\})re"};
    static const std::regex collection{R"re(,"collection":)re"};
    static const std::regex transaction_block{R"re("transaction":\{"id":.*\}\}\}$)re"};
    static const std::regex bare_number{R"re(: (NaN|Infinity|-Infinity)([,}]))re"};
    const std::string our_version = R"re("version":")re" + std::string{version} + R"re(")re";
    const std::string our_time =
        R"re("op":"$1","ts_ms":)re" + std::to_string(now_ms) + R"re(,"transaction":)re";
    count.version += replace_all(value, engine_version, our_version);
    count.ts_ms += replace_all(value, connector_time, our_time);
    count.rs_schema += replace_all(value, collection_schema,
                                   R"re({"type":"string","optional":false,"field":"rs"},$&)re");
    count.rs += replace_all(value, collection, R"re(,"rs":"set"$&)re");
    count.transaction += replace_all(value, transaction_block, R"re("transaction":null}})re");
    count.bare_numbers +=
        replace_all(value, bare_number, R"re(: {\"$$numberDouble\": \"$1\"}$2)re");
    return value;
}

} // namespace

TEST_CASE("the golden run comes out record for record", "[event][golden]") {
    const auto golden = golden_records();
    const auto changes = golden_changes();
    REQUIRE(golden.size() == 136);
    REQUIRE(changes.size() == 136);

    auto topics = std::make_shared<event::topic_table>("fulfillment");
    event::envelope envelope{{{std::string{version}, "fulfillment", "set"}, true, true}, topics};
    event::record_batch_builder builder{1};
    for (const auto& bytes : changes) {
        const auto change = bson::view::from(bytes);
        REQUIRE(change);
        const auto event = mongodb::streaming::decode(*change);
        REQUIRE(event);
        REQUIRE(envelope.write(*event, now_ms, builder));
    }
    const auto batch = builder.finish();

    allowed count;
    std::size_t tombstones = 0;
    std::size_t at = 0;
    simdjson::dom::parser parser;
    for (std::size_t i = 0; i < batch->size(); ++i) {
        const event::record r = (*batch)[i];
        if (!r.value) {
            ++tombstones;
            continue;
        }
        REQUIRE(at < golden.size());
        const golden_record& g = golden[at++];
        INFO("record " << at);
        CHECK(r.topic == g.topic);
        CHECK(r.key == g.key);
        CHECK(*r.value == expected_value(g.value, count));

        // Ours is JSON all the way down.
        simdjson::dom::element value;
        REQUIRE(parser.parse(r.value->data(), r.value->size()).get(value) == simdjson::SUCCESS);
        simdjson::dom::parser inner_parser;
        const auto check_inner = [&](simdjson::simdjson_result<simdjson::dom::element> text) {
            std::string_view inner;
            if (text.get_string().get(inner) == simdjson::SUCCESS)
                CHECK(inner_parser.parse(inner.data(), inner.size()).error() == simdjson::SUCCESS);
        };
        check_inner(value["payload"]["after"]);
        check_inner(value["payload"]["updateDescription"]["updatedFields"]);
    }
    CHECK(at == golden.size());
    CHECK(tombstones == 24);

    // The allowed differences occurred where they must and nowhere else.
    CHECK(count.version == golden.size());
    CHECK(count.ts_ms == golden.size());
    CHECK(count.rs_schema == golden.size());
    CHECK(count.rs == golden.size());
    CHECK(count.transaction == 4);
    CHECK(count.bare_numbers == 5);
    CHECK(topics->take_clashes().empty());
}
