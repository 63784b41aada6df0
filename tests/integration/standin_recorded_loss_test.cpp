// SPDX-License-Identifier: Apache-2.0
// The recording of positions that left the oplog (see standin_recordings_test.cpp for what cannot
// be equal; besides, cursor ids in texts). The recorded set lost its history by being made anew
// from data files; here the old end of the oplog is dropped behind a noop. Not asked: the tailable
// find, which the stand-in refuses.
#include "core/bson/builder.hpp"
#include "tests/integration/standin_recording_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_data.hpp"

#include <map>
#include <regex>

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;
namespace wire = cdc::test::wire;

using namespace cdc::test::standin;

namespace {

/// What a recorded command names, as it is here.
struct translation {
    std::map<std::string, std::string> tokens;
    bson::timestamp recorded_time;
    bson::timestamp time;
    std::int64_t cursor = 0; ///< of the stream opened last

    bson::document operator()(bson::view doc) const {
        bson::builder b;
        for (bson::cursor c{doc}; c.next();) {
            if (c.kind() == bson::type::document) {
                const auto inner = (*this)(c.as_document());
                b.document(c.name(), inner);
            } else if (c.kind() == bson::type::array) {
                const auto inner = (*this)(c.as_document());
                b.array(c.name(), inner);
            } else if (c.name() == "getMore") {
                b.int64("getMore", cursor);
            } else if (c.kind() == bson::type::string &&
                       tokens.contains(std::string(c.as_string()))) {
                b.string(c.name(), tokens.at(std::string(c.as_string())));
            } else if (c.kind() == bson::type::timestamp && c.as_timestamp() == recorded_time) {
                b.timestamp(c.name(), time);
            } else {
                b.value(c.name(), c);
            }
        }
        return b.finish();
    }
};

/// The error's text without what is this run's own.
bson::document with_general_text(bson::view reply) {
    static const std::regex token(R"re(_data: "([0-9A-F]+)")re");
    static const std::regex id("cursor id [0-9]+");
    bson::builder b;
    for (bson::cursor c{reply}; c.next();) {
        if (c.name() != "errmsg") {
            b.value(c.name(), c);
            continue;
        }
        auto text = std::regex_replace(std::string(c.as_string()), id, "cursor id N");
        std::smatch found;
        if (std::regex_search(text, found, token)) {
            const std::string data = found[1];
            text.replace(static_cast<std::size_t>(found.position(1)), data.size(),
                         without_clock_and_id(data));
        }
        b.string("errmsg", text);
    }
    return b.finish();
}

} // namespace

TEST_CASE("stand-in: recording history_lost", "[standin][recordings]") {
    const auto rows =
        standin::read_recording(cdc::test::data_path("recordings/history_lost.jsonl"));
    standin::replica_set set;
    wire::client client(set.port());
    ask_json(client, "w", R"({"insert": "c", "documents": [{"_id": 0}]})");
    translation here;
    here.time = set.last_time();
    int asked = 0;
    int failed = 0;
    std::size_t inserts = 0;
    const char* const new_ids[] = {"6b0d19cebc782b51b75e4df9", "6b0d19cebc782b51b75e4dfa",
                                   "6b0d19cebc782b51b75e4dfb", "6b0d19cebc782b51b75e4dfc",
                                   "6b0d19cebc782b51b75e4dfd"};
    for (const auto& row : rows) {
        INFO(row.note);
        if (row.note == "positions taken") {
            // As the commands below name them.
            const std::string token =
                "826B0D19C30000000A2B022C0100296E5A100404382D02B7CA4A80BCBA354CBAD771BF461E5F696400"
                "290004";
            here.recorded_time =
                standin::resume_token::parse(
                    *bson::find(standin::from_json(R"({"t": {"_data": ")" + token + R"("}})"), "t"))
                    .cluster_time();
            const auto opened = ask_json(client, "w",
                                         R"({"aggregate": "c", "pipeline": [{"$changeStream":
                {"startAtOperationTime": {"$timestamp": {"t": 1, "i": 1}}}}], "cursor": {}})");
            here.tokens[token] =
                token_data(bson::find_path(opened, "cursor.firstBatch.0._id")->as_document());
            auto after = here.time;
            ++after.i;
            here.tokens["826B0D19C30000000B2B0229296E04"] =
                standin::resume_token::high_water(after).data();
            continue;
        }
        if (row.note == "oldest entry of the new primary") {
            set.advance_clock(7);
            set.append_noop();
            set.keep_last(1);
            set.advance_clock(4);
            continue;
        }
        REQUIRE(row.command);
        if (bson::find(*row.command, "tailable"))
            continue;
        if (row.note == "getMore after a new insert") {
            REQUIRE(inserts < std::size(new_ids));
            ask_json(client, "w",
                     R"({"insert": "c", "documents": [{"_id": {"$oid": ")" +
                         std::string(new_ids[inserts++]) + R"("}}]})");
        }
        const auto reply = ask(client, "w", here(*row.command));
        ++asked;
        failed += row.code.has_value();
        const auto expected = with_general_text(*row.reply);
        const auto answered = with_general_text(reply);
        auto unequal = unequal_in_replies;
        unequal.emplace_back("cursor.firstBatch.0.clusterTime");
        check_equal(row.note, expected, answered, unequal);
        CHECK(code_of(reply) == row.code.value_or(0));
        CHECK(ticks_ahead(*row.reply) == ticks_ahead(reply));
        if (const auto id = bson::find_path(reply, "cursor.id"))
            here.cursor = id->as_int64();
    }
    CHECK(asked == 30);
    CHECK(failed == 13);
    CHECK(inserts == 5);
}
