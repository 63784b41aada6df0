// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/pattern.hpp"
#include "tests/support/catch.hpp"

#include <string>

using cdc::mongodb::pattern;

namespace {

bool matches(std::string_view item, std::string_view text) {
    return pattern::compile(item).value().matches(text).value();
}

} // namespace

TEST_CASE("an item without a metacharacter but the dot is a literal", "[sources][filters]") {
    CHECK(pattern::compile("db.coll").value().literal());
    CHECK(pattern::compile("db.coll-a1 x_y#z").value().literal());
    for (const auto* item :
         {"a\\.b", "^a", "a$", "a*", "a+", "a?", "a{2}", "[ab]", "a|b", "(a)", "a]", "a}", "a)"})
        CHECK_FALSE(pattern::is_literal(item));

    CHECK(matches("db.coll", "db.coll"));
    CHECK_FALSE(matches("db.coll", "dbxcoll"));
    CHECK_FALSE(matches("db.coll", "db.coll2"));
    CHECK_FALSE(matches("db.coll", "xdb.coll"));
    CHECK_FALSE(matches("db.coll", "db.coll\n"));
    CHECK(matches("db.coll-a1", "db.coll-a1"));
    CHECK_FALSE(matches("db.coll-a1", "db.coll-a2"));
    CHECK(matches("db a#b", "db a#b"));
}

TEST_CASE("both kinds of items ignore case, beyond ASCII too", "[sources][filters]") {
    CHECK(matches("Db.Coll", "dB.cOLL"));
    CHECK(matches("Stra\xc3\x9f"
                  "e.\xc3\x84rger",
                  "stra\xc3\x9f"
                  "e.\xc3\xa4rger"));
    CHECK(matches("db\\.(A|B).*", "DB.bcd"));
    CHECK(matches("db\\.\\W", "db.\xc3\xa4")); // \w is ASCII only, as on the server
}

TEST_CASE("a regex must match the whole text", "[sources][filters]") {
    CHECK(matches("db\\.c.*", "db.coll"));
    CHECK_FALSE(matches("b\\.c", "db.c"));
    CHECK_FALSE(matches("db\\.c", "db.coll"));
    CHECK(matches("a|db\\.coll", "db.coll")); // the longer alternative
    CHECK_FALSE(matches("db\\.coll$", "db.coll\n"));
    CHECK(matches("db.c+", "dbxccc")); // an unescaped dot of a regex is any character
}

TEST_CASE("what cannot be a regex is refused with its place", "[sources][filters]") {
    const auto r = pattern::compile("db\\.(a|b");
    REQUIRE_FALSE(r);
    CHECK(r.error().code == cdc::error::errc::configuration);
    CHECK(r.error().text.find("at character 8") != std::string::npos);
    CHECK_FALSE(pattern::compile("\xff\xfe"));
}

TEST_CASE("text that is not UTF-8 matches nothing, an exploding pattern is an error",
          "[sources][filters]") {
    CHECK_FALSE(matches("db\\..*", "db.\xff"));
    const auto p = pattern::compile("(a+a+)+[bc]").value();
    const auto r = p.matches(std::string(60, 'a'));
    REQUIRE_FALSE(r);
    CHECK(r.error().code == cdc::error::errc::configuration);
}

TEST_CASE("escaped text is a regex for just that text", "[sources][filters]") {
    const std::string text = "a.b$c*(d)[e]{f}|g\\h^i-j k#l_m\xc3\xa4";
    const auto p = pattern::compile("(?:" + pattern::escape(text) + ")").value();
    CHECK(p.matches(text).value());
    CHECK_FALSE(p.matches(text + "x").value());
}
