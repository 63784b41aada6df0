// SPDX-License-Identifier: Apache-2.0
#include "core/config/option_printer.hpp"
#include "core/config/option_table.hpp"
#include "tests/support/catch.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

using namespace cdc::config;
using namespace std::chrono_literals;

namespace {

const option_table& sample() {
    static const option_table table(
        "sample", "A sample",
        {{.name = "name", .doc = "A name", .group = "One", .required = true},
         {.name = "flag", .type = option_type::boolean, .fallback = "true", .doc = "A flag"},
         {.name = "count",
          .type = option_type::integer,
          .fallback = "3",
          .doc = "A | count",
          .unit = "things",
          .min = 1,
          .max = 9},
         {.name = "wait.ms", .type = option_type::duration_ms, .fallback = "250", .doc = "A wait"},
         {.name = "size", .type = option_type::bytes, .fallback = "2KiB", .doc = "A size"},
         {.name = "mode",
          .type = option_type::enumeration,
          .fallback = "fast",
          .doc = "A mode",
          .allowed = {"fast", "slow"}},
         {.name = "items", .type = option_type::list, .doc = "Items"},
         {.name = "password", .type = option_type::secret, .doc = "A password"},
         {.name = "file", .type = option_type::path, .fallback = "x/y", .doc = "A file"},
         {.name = "later",
          .doc = "Later",
          .allowed = {"off"},
          .status = option_status::not_supported_yet},
         {.name = "many",
          .doc = "Many",
          .prefix = true,
          .status = option_status::not_supported_yet,
          .instead = "use one"},
         {.name = "title", .status = option_status::renamed, .instead = "name"},
         {.name = "gone", .status = option_status::removed, .instead = "nothing does it"},
         {.name = "other",
          .prefix = true,
          .status = option_status::ignored,
          .instead = "not ours"}},
        [](option_check& check) {
            if (check.of().has("count") && check.of().integer("count") == 7)
                check.mistake("count", "is unlucky", "8");
        });
    return table;
}

raw_value scalar(std::string text, std::size_t line = 0) {
    raw_value raw;
    raw.kind = raw_value::kind_t::scalar;
    raw.text = raw.written = std::move(text);
    raw.line = line;
    return raw;
}

std::vector<std::string> problems(const raw_values& given) {
    report found;
    sample().read(given, "p.", "/folder", found);
    std::vector<std::string> out;
    for (const auto& m : found.mistakes())
        out.push_back(m.text());
    return out;
}

using strings = std::vector<std::string>;

} // namespace

TEST_CASE("values have the type of their row", "[config]") {
    report found;
    const values read = sample().read({{"name", scalar("n")},
                                       {"count", scalar("5")},
                                       {"items", scalar("a, b")},
                                       {"password", scalar("hunter22")}},
                                      "p.", "/folder", found);
    REQUIRE(found.mistakes().empty());
    CHECK(read.text("name") == "n");
    CHECK(read.boolean("flag"));
    CHECK(read.integer("count") == 5);
    CHECK(read.duration("wait.ms") == 250ms);
    CHECK(read.bytes("size") == 2048);
    CHECK(read.text("mode") == "fast");
    CHECK(read.list("items") == strings{"a", "b"});
    CHECK(read.text("password") == "hunter22");
    CHECK(read.path("file") == "/folder/x/y");
    CHECK(read.given("count"));
    CHECK_FALSE(read.given("flag"));
    CHECK(read.shown("password") == "***");
    CHECK(read.shown("items") == "a, b");
    CHECK(read.shown("count") == "5");
    CHECK(read.shown("flag") == "true");
}

TEST_CASE("asking for what is not there is a bug", "[config]") {
    const values read(sample());
    CHECK_THROWS_AS(read.text("nmae"), std::logic_error);
    CHECK_THROWS_AS(read.has("nmae"), std::logic_error);
    CHECK_THROWS_AS(read.text("count"), std::logic_error);
    CHECK_THROWS_AS(read.integer("wait.ms"), std::logic_error);
    CHECK_THROWS_AS(read.duration("count"), std::logic_error);
    CHECK_THROWS_AS(read.bytes("count"), std::logic_error);
    CHECK_THROWS_AS(read.boolean("name"), std::logic_error);
    CHECK_THROWS_AS(read.path("name"), std::logic_error);
    CHECK_THROWS_AS(read.list("name"), std::logic_error);
    CHECK_FALSE(read.has("name"));
    CHECK_THROWS_AS(read.text("name"), std::logic_error);
    CHECK(read.list("items").empty());
}

TEST_CASE("a table that contradicts itself cannot be made", "[config]") {
    const auto make = [](std::vector<option> rows) { option_table("t", "T", std::move(rows)); };
    CHECK_THROWS_AS(make({{.name = "a", .doc = "A"}, {.name = "a", .doc = "A"}}), std::logic_error);
    CHECK_THROWS_AS(make({{.name = "a"}}), std::logic_error);
    CHECK_THROWS_AS(
        make({{.name = "a", .type = option_type::integer, .fallback = "0", .doc = "A", .min = 1}}),
        std::logic_error);
    CHECK_THROWS_AS(make({{.name = "a", .doc = "A", .status = option_status::renamed}}),
                    std::logic_error);
}

TEST_CASE("every kind of mistake says what to do", "[config]") {
    const auto [key, text, wanted] = GENERATE(table<std::string, std::string, std::string>({
        {"cuont", "5", R"(p.cuont: is not a known key; did you mean "count"?)"},
        {"entirely.else", "hunter22", "p.entirely.else: is not a known key"},
        {"pasword", "hunter22", R"(p.pasword: is not a known key; did you mean "password"?)"},
        {"password:hunter22", "x",
         R"(p.password...: is not a known key (is a blank missing after a colon?); did you mean "password"?)"},
        {"count", "x", R"(p.count: "x" is not an integer; allowed: an integer, 1 to 9)"},
        {"count", "10", R"(p.count: "10" is out of range; allowed: an integer, 1 to 9)"},
        {"count", "7", "p.count: is unlucky; allowed: 8"},
        {"mode", "fst",
         R"(p.mode: "fst" is not allowed; allowed: fast, slow; did you mean "fast"?)"},
        {"mode", "a\nb", R"(p.mode: "a\x0ab" is not allowed; allowed: fast, slow)"},
        {"later", "hunter22",
         "p.later: is known, but not supported yet; leave it out; allowed: off"},
        {"many", "hunter22", "p.many: is known, but not supported yet: use one"},
        {"many.more", "hunter22", "p.many.more: is known, but not supported yet: use one"},
        {"manymore", "x", "p.manymore: is not a known key"},
        {"gone", "hunter22",
         "p.gone: is an option of old versions that no longer exists: nothing does it"},
    }));
    CAPTURE(key);
    CHECK(problems({{"name", scalar("n")}, {key, scalar(text)}}) == strings{wanted});
}

TEST_CASE("required keys are missed unless a mistaken key stands for them", "[config]") {
    CHECK(problems({}) == strings{"p.name: is missing (A name); allowed: a text"});
    CHECK(problems({{"title", scalar("x")}}) == strings{"p.title: is an old name, use name"});
    CHECK(problems({{"nane", scalar("x")}}) ==
          strings{R"(p.nane: is not a known key; did you mean "name"?)"});
}

TEST_CASE("what changes nothing is accepted, what is not ours is warned about", "[config]") {
    report found;
    sample().read({{"name", scalar("n")},
                   {"later", scalar("off")},
                   {"other", scalar("x", 4)},
                   {"other.thing", scalar("hunter22")}},
                  "p.", "/folder", found);
    CHECK(found.mistakes().empty());
    REQUIRE(found.warnings().size() == 2);
    CHECK(found.warnings()[0].text() == "p.other: is ignored: not ours");
    CHECK(found.warnings()[0].line == 4);
    CHECK(found.warnings()[1].text() == "p.other.thing: is ignored: not ours");
}

TEST_CASE("secrets and text from elsewhere are not shown", "[config]") {
    raw_value list;
    list.kind = raw_value::kind_t::list;
    list.items = {"hunter22"};
    list.written = "hunter22";
    auto replaced = scalar("hunter22");
    replaced.written = "${env:MODE}";
    replaced.substituted = true;
    CHECK(problems({{"name", scalar("n")}, {"password", list}, {"mode", replaced}}) ==
          strings{
              R"(p.password: "***" is a list, not one value; allowed: a text (never shown))",
              R"(p.mode: "${env:MODE}" (after substitution) is not allowed; allowed: fast, slow)"});
}

TEST_CASE("long lists of mistakes are cut", "[config]") {
    raw_values given{{"name", scalar("n")}};
    for (int i = 0; i < 1000; ++i)
        given.emplace_back("unknown" + std::to_string(i), scalar("x"));
    report found;
    sample().read(given, "p.", "/folder", found);
    CHECK(found.mistakes().size() == 200);
    CHECK(found.more() == 800);
}

TEST_CASE("the reference says everything the rows say", "[config]") {
    const std::string plain = print_reference({&sample()}, reference_format::plain);
    for (const char* part :
         {"A sample\n", " One\n", "  name  [string, required]\n      A name\n",
          "  flag  [boolean, default true]\n", "  count  [integer (things), default 3]\n",
          "      Values: an integer, 1 to 9\n", "  wait.ms  [duration (ms), default 250]\n",
          "  size  [bytes, default 2KiB]\n", "      Values: fast, slow\n",
          "  items  [list, no default]\n", "  password  [secret, no default]\n",
          "  Known, not supported yet:\n      later, many.*\n",
          "  Old names, refused:\n      title (now name)\n",
          "  Old options, refused:\n      gone\n", "  Ignored with a warning:\n      other.*\n"}) {
        CAPTURE(part);
        CHECK(plain.find(part) != std::string::npos);
    }
    const std::string markdown = print_reference({&sample()}, reference_format::markdown);
    for (const char* part :
         {"### A sample\n\n| Option | Type | Default | Values | Meaning |\n|---|---|---|---|---|\n",
          "| `name` | string | required |  | A name |\n",
          "| `count` | integer (things) | `3` | an integer, 1 to 9 | A \\| count |\n",
          "| `items` | list | none |  | Items |\n",
          "\nKnown, not supported yet: later, many.*.\n"}) {
        CAPTURE(part);
        CHECK(markdown.find(part) != std::string::npos);
    }
}

TEST_CASE("texts are cut to fit a line", "[config]") {
    CHECK(printable("plain") == "plain");
    CHECK(printable("a\tb\x7f") == "a\\x09b\\x7f");
    CHECK(printable(std::string(500, 'x')).size() == 83);
    const std::string cut = printable(std::string(79, 'x') + "éé");
    CHECK(cut == std::string(79, 'x') + "...");
    CHECK(printable_key("a.b-c_d") == "a.b-c_d");
    CHECK(printable_key("a:b") == "a...");
    CHECK(printable_key("a b") == "a...");
}
