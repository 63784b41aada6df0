// SPDX-License-Identifier: Apache-2.0
#include "core/config/parsed_value.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace cdc::config;

namespace {

raw_value scalar(std::string text) {
    raw_value raw;
    raw.kind = raw_value::kind_t::scalar;
    raw.text = raw.written = std::move(text);
    return raw;
}

raw_value sequence(std::vector<std::string> items) {
    raw_value raw;
    raw.kind = raw_value::kind_t::list;
    raw.items = std::move(items);
    return raw;
}

/// The value, or "problem" of the refusal.
template <class T>
T good(const option& row, const raw_value& raw) {
    auto parsed = parse_value(row, raw, "/folder");
    REQUIRE(std::holds_alternative<parsed_value>(parsed));
    return std::get<T>(std::get<parsed_value>(parsed));
}

refusal bad(const option& row, const raw_value& raw) {
    auto parsed = parse_value(row, raw, "/folder");
    REQUIRE(std::holds_alternative<refusal>(parsed));
    return std::get<refusal>(parsed);
}

} // namespace

TEST_CASE("numbers are decimal digits within their range", "[config]") {
    const option row{.name = "n", .type = option_type::integer, .min = -5, .max = 1000};
    const auto [text, number] = GENERATE(
        table<std::string, std::int64_t>({{"0", 0}, {"-5", -5}, {"1000", 1000}, {"007", 7}}));
    CHECK(good<std::int64_t>(row, scalar(text)) == number);
}

TEST_CASE("what is no number or out of range is refused", "[config]") {
    const option row{.name = "n", .type = option_type::integer, .min = 1, .max = 1000};
    const auto [text, problem] = GENERATE(table<std::string, std::string>({
        {"0", "is out of range"},
        {"1001", "is out of range"},
        {"1e3", "is not an integer"},
        {"1.0", "is not an integer"},
        {"+1", "is not an integer"},
        {" 1", "is not an integer"},
        {"0x10", "is not an integer"},
        {"1_000", "is not an integer"},
        {"on", "is not an integer"},
        {"99999999999999999999999", "is not an integer"},
    }));
    CAPTURE(text);
    CHECK(bad(row, scalar(text)).problem == problem);
    CHECK(bad(row, scalar(text)).allowed == "an integer, 1 to 1000");
}

TEST_CASE("sizes take binary suffixes", "[config]") {
    const option row{.name = "s", .type = option_type::bytes, .min = 0};
    const auto [text, bytes] = GENERATE(table<std::string, std::int64_t>({
        {"0", 0},
        {"1024", 1024},
        {"1KiB", 1024},
        {"64MiB", std::int64_t{64} << 20},
        {"64 MiB", std::int64_t{64} << 20},
        {"2GiB", std::int64_t{2} << 30},
    }));
    CHECK(good<std::int64_t>(row, scalar(text)) == bytes);
    for (const char* wrong : {"1MB", "1kib", "MiB", "-1", "1.5MiB", "9999999999999GiB", "1 MiB x"})
        CHECK(bad(row, scalar(wrong)).problem == "is not a size");
}

TEST_CASE("booleans are true and false only", "[config]") {
    const option row{.name = "b", .type = option_type::boolean};
    CHECK(good<bool>(row, scalar("true")));
    CHECK_FALSE(good<bool>(row, scalar("false")));
    for (const char* wrong : {"on", "off", "yes", "no", "True", "1", "0"}) {
        CHECK(bad(row, scalar(wrong)).problem == "is not a boolean");
        CHECK(bad(row, scalar(wrong)).allowed == "true, false");
    }
}

TEST_CASE("lists are comma text or sequences", "[config]") {
    using items = std::vector<std::string>;
    const option row{.name = "l", .type = option_type::list};
    CHECK(good<items>(row, scalar("a")) == items{"a"});
    CHECK(good<items>(row, scalar(" a.b , c ,, \n d,")) == items{"a.b", "c", "d"});
    CHECK(good<items>(row, scalar(R"(x{1\,2},\d+\\,y)")) == items{"x{1,2}", R"(\d+\\)", "y"});
    CHECK(good<items>(row, sequence({" a ", "x{1,2}", ""})) == items{"a", "x{1,2}"});
    for (const auto& empty : {scalar(" , "), sequence({}), sequence({" "})})
        CHECK(bad(row, empty).problem.find("names nothing") == 0);
}

TEST_CASE("a check of the row names the item, never the value", "[config]") {
    const option row{.name = "l",
                     .type = option_type::list,
                     .check =
                         [](const std::string& item) {
                             return item == "bad" ? std::string("is bad") : std::string();
                         },
                     .allowed_text = "good things"};
    CHECK(bad(row, scalar("a,bad")).problem == "(item 2) is bad");
    CHECK(bad(row, scalar("bad")).problem == "is bad");
    CHECK(bad(row, scalar("bad")).allowed == "good things");
    auto from_elsewhere = scalar("a,bad");
    from_elsewhere.substituted = true;
    CHECK(bad(row, from_elsewhere).problem == "is bad");
}

TEST_CASE("relative paths count from the folder", "[config]") {
    const option row{.name = "p", .type = option_type::path};
    CHECK(good<std::string>(row, scalar("out/a")) == "/folder/out/a");
    CHECK(good<std::string>(row, scalar("./out/../a")) == "/folder/a");
    CHECK(good<std::string>(row, scalar("/else/a")) == "/else/a");
}

TEST_CASE("enumerations answer special values specially", "[config]") {
    const option row{.name = "e",
                     .type = option_type::enumeration,
                     .allowed = {"one", "two"},
                     .refused = {{"three", "comes later"}}};
    CHECK(good<std::string>(row, scalar("two")) == "two");
    CHECK(bad(row, scalar("three")).problem == "comes later");
    CHECK(bad(row, scalar("Two")).problem == "is not allowed");
    CHECK(bad(row, scalar("x")).allowed == "one, two");
}

TEST_CASE("no value, mappings and lists in the wrong place are refused", "[config]") {
    for (const auto type : {option_type::string, option_type::boolean, option_type::integer,
                            option_type::path, option_type::secret, option_type::list}) {
        const option row{.name = "o", .type = type};
        raw_value nothing;
        CHECK(bad(row, nothing).problem.find("has no value") == 0);
        CHECK(bad(row, scalar("")).problem.find("has no value") == 0);
        raw_value map;
        map.kind = raw_value::kind_t::map;
        CHECK(bad(row, map).problem == "is a mapping, not a value");
        if (type != option_type::list)
            CHECK(bad(row, sequence({"1"})).problem == "is a list, not one value");
    }
    CHECK(bad({.name = "o"}, scalar(std::string("a\0b", 3))).problem == "holds a NUL byte");
}
