// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/event/position.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace cdc;
using event::position;

namespace {

position at(std::string_view data, bson::timestamp time = {}) {
    const auto token = bson::builder{}.string("_data", data).finish();
    return {token, time};
}

// As a 4.4 server writes them, of the same second: a high-water token, then events.
constexpr std::string_view high_water = "826B0D17C8000000052B0229296E04";
constexpr std::string_view event_token =
    "826B0D17C8000000052B022C0100296E5A1004D03D9FFEC9D9454CA5BE428D952A34F5461E5F696400"
    "2C07D8000004";
constexpr std::string_view later_event =
    "826B0D17C8000000062B022C0100296E5A1004D03D9FFEC9D9454CA5BE428D952A34F5461E5F696400"
    "2C07D8000004";

} // namespace

TEST_CASE("positions sort as the server sorts tokens", "[event]") {
    const position none;
    CHECK(none.empty());
    CHECK(none < at(high_water));
    CHECK(at(high_water) < at(event_token));
    CHECK(at(event_token) < at(later_event));
    CHECK(at(event_token) == at(event_token, {1, 2}));
    CHECK(at(event_token).clone() == at(event_token));
    CHECK(at(event_token, {7, 8}).clone().cluster_time() == bson::timestamp{7, 8});
}

TEST_CASE("the time inside a token is read", "[event]") {
    CHECK(position::time_of(high_water) == bson::timestamp{0x6b0d17c8, 5});
    CHECK(position::time_of(later_event) == bson::timestamp{0x6b0d17c8, 6});
    CHECK(position::time_of("82FFFFFFFFFFFFFFFF") == bson::timestamp{0xffffffff, 0xffffffff});
    for (const char* no : {"", "82", "826B0D17C80000000", "836B0D17C800000005",
                           "826B0D17C80000000G", "not a token at all"}) {
        INFO(no);
        CHECK_FALSE(position::time_of(no));
    }
}

TEST_CASE("high-water tokens are told from tokens of events", "[event]") {
    CHECK(at(high_water).is_high_water());
    CHECK(at("826B0D17C8000000052B0429296E1404").is_high_water());
    CHECK_FALSE(at(event_token).is_high_water());
    CHECK_FALSE(at("826B0D17C8000000052B042C0100296E5A1004D0").is_high_water());
    // What is not known counts as an event.
    CHECK_FALSE(at("826B0D17C8000000052B0629296E04").is_high_water());
    CHECK_FALSE(at("826B0D17C800000005").is_high_water());
    CHECK_FALSE(at("826B0D17C8000000052B02").is_high_water());
    CHECK_FALSE(at("").is_high_water());
    CHECK_FALSE(position{}.is_high_water());
}

TEST_CASE("positions survive being stored", "[event]") {
    const position p = at(high_water, {0x6b0d17c8, 5});
    const std::string json = p.to_json();
    CHECK(json ==
          R"({"resume_token":"LwAAAAJfZGF0YQAfAAAAODI2QjBEMTdDODAwMDAwMDA1MkIwMjI5Mjk2RTA0AAA=",)"
          R"("data":"826B0D17C8000000052B0229296E04","sec":1796020168,"ord":5})");
    const auto back = position::from_json(json);
    REQUIRE(back);
    CHECK(*back == p);
    CHECK(back->cluster_time() == p.cluster_time());
    CHECK(std::vector<std::uint8_t>(back->token().bytes().begin(), back->token().bytes().end()) ==
          std::vector<std::uint8_t>(p.token().bytes().begin(), p.token().bytes().end()));
    CHECK(back->to_json() == json);

    const auto largest = position::from_json(at("82", {4294967295U, 4294967295U}).to_json());
    REQUIRE(largest);
    CHECK(largest->cluster_time() == bson::timestamp{4294967295U, 4294967295U});

    const auto nothing = position::from_json(position{}.to_json());
    REQUIRE(nothing);
    CHECK(nothing->empty());
}

TEST_CASE("what was not written as a position is refused", "[event]") {
    const std::string json = at(high_water, {1796020168, 5}).to_json();
    const auto with = [&json](std::string_view what, std::string_view instead) {
        std::string out = json;
        const auto found = out.find(what);
        REQUIRE(found != std::string::npos);
        return out.replace(found, what.size(), instead);
    };
    const std::string wrong[] = {
        "",
        "null",
        "[]",
        json.substr(0, json.size() - 1),
        json + " ",
        json + json,
        with(R"("ord":5)", R"("ord":"5")"),
        with(R"("ord":5)", R"("ord":-5)"),
        with(R"("ord":5)", R"("ord":4294967301)"),
        with(R"("ord":5)", R"("ord":5,"more":1)"),
        with(R"(,"ord":5)", ""),
        with("LwAAAAJf", "LwAAAAJ"),
        with("LwAAAAJf", "MAAAAAJf"),
        with("LwAAAAJf", "L!AAAAJf"),
        with(R"("data":"826B0D17C8)", R"("data":"826B0D17C9)"),
    };
    for (const std::string& text : wrong) {
        INFO(text);
        const auto p = position::from_json(text);
        REQUIRE_FALSE(p);
        CHECK(p.error().code == error::errc::state_invalid);
    }
}

TEST_CASE("an invalidate's token is known by its mark", "[event]") {
    // As 4.4 writes them: of a dropped database, of a collection; of a later event of a transaction
    // as the format allows it; and of version 2 (6.0).
    for (const char* data :
         {"826B0D17C5000000162B022C0100296F04",
          "826B0D17C6000000032B022C0100296F5A1004E1B92A8B417A4BE399F6ED58D874289004",
          "826B0D17C6000000032B022C01002B026F5A1004E1B92A8B417A4BE399F6ED58D874289004",
          "826B0D17C6000000032B022C01002C01006F04", "826B0D17C5000000162B042C0100296F04"})
        CHECK(at(data).is_from_invalidate());
    for (const char* data :
         {"826B0D17C5000000162B022C0100296E04",
          "826B0D17C6000000032B022C0100296E5A1004E1B92A8B417A4BE399F6ED58D874289004",
          "826B0D17C6000000032B0229296E04", "826B0D17C5000000162B062C0100296F04",
          "826B0D17C5000000162B022C0100", "826B0D17C5000000162B022C01002B", "826B0D17C500000016",
          "6F", ""})
        CHECK_FALSE(at(data).is_from_invalidate());
    CHECK_FALSE(position{}.is_from_invalidate());
}
