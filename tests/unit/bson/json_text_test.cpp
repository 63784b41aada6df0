// SPDX-License-Identifier: Apache-2.0
#include "core/bson/json_text.hpp"
#include "core/bson/verbatim_characters.hpp"
#include "tests/support/catch.hpp"

#include <simdjson.h>

#include <random>
#include <string>

using namespace cdc;
using bson::json_embedding;

namespace {

template <json_embedding E>
std::string text(std::string_view s) {
    std::string out;
    json::writer to{out};
    bson::append_text<E>(to, s);
    to.close();
    return out;
}

std::string plain(std::string_view s) {
    return text<json_embedding::plain>(s);
}

std::string parsed(const std::string& json) {
    simdjson::dom::parser parser;
    return std::string{std::string_view{parser.parse(json).get_string()}};
}

std::string utf8(char32_t c) {
    std::string out;
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xc0 | c >> 6);
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xe0 | c >> 12);
        out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | c >> 18);
        out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
        out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    }
    return out;
}

} // namespace

TEST_CASE("strings escape each class of character as the driver does", "[bson]") {
    CHECK(plain("") == R"("")");
    CHECK(plain("quote\" back\\ slash/") == R"("quote\" back\\ slash/")");
    CHECK(plain("\b\f\n\r\t") == R"("\b\f\n\r\t")");
    CHECK(plain(std::string_view{"\0\x01\x1f\x7f", 4}) == R"("\u0000\u0001\u001f\u007f")");
    // Letters, numbers, blanks, punctuation and symbols of any script stay.
    for (const char* same : {"h\u00e9llo \u00df", "\u65e5\u672c\u8a9e", "\u0414\u0436",
                             "\u00bd \u2167 \u2460 \u0663", "\u20ac \u2211 \u2190 \u00b4",
                             "\u2014 \u00ab \u00bb \u203f \u3008", "\u00a0 \u3000", "\ufffd"})
        CHECK(plain(same) == "\"" + std::string{same} + "\"");
    // Everything else does not.
    const std::pair<const char*, const char*> escaped[] = {
        {"\u0080", R"(\u0080)"},             // control
        {"\u00ad", R"(\u00ad)"},             // format
        {"\u200b\u200d", R"(\u200b\u200d)"}, // format
        {"e\u0301", R"(e\u0301)"},           // combining mark
        {"\u0903", R"(\u0903)"},             // spacing mark
        {"\u20dd", R"(\u20dd)"},             // enclosing mark
        {"\u02b0", R"(\u02b0)"},             // modifier letter
        {"\u2028\u2029", R"(\u2028\u2029)"}, // line and paragraph separator
        {"\ue000\uf8ff", R"(\ue000\uf8ff)"}, // private use
        {"\u0378", R"(\u0378)"},             // unassigned
        {"\U0001f600", R"(\ud83d\ude00)"},   // beyond U+FFFF, whatever it is
        {"\U00020000", R"(\ud840\udc00)"},
        {"\U0010ffff", R"(\udbff\udfff)"},
    };
    for (const auto& [given, expected] : escaped)
        CHECK(plain(given) == "\"" + std::string{expected} + "\"");
}

TEST_CASE("what is not UTF-8 becomes a replacement character", "[bson]") {
    CHECK(plain("\xdc\x28") == "\"\ufffd(\"");
    CHECK(plain("abcdefgh\xff") == "\"abcdefgh\ufffd\"");
    CHECK(plain("\xed\xa0\x80") == "\"\ufffd\ufffd\ufffd\"");
    CHECK(text<json_embedding::embedded>("\xe6\x97") == "\\\"\ufffd\\\"");
}

TEST_CASE("embedded text is the plain text escaped once more", "[bson]") {
    CHECK(text<json_embedding::embedded>("q\"b\\n\n\x01") == R"(\"q\\\"b\\\\n\\n\\u0001\")");

    std::mt19937 random{7};
    for (int i = 0; i < 20000; ++i) {
        std::string s;
        const auto length = random() % 40;
        for (std::size_t n = 0; n < length; ++n) {
            switch (random() % 8) {
            case 0:
                s += "\"\\\n\t\x1f/"[random() % 6];
                break;
            case 1: {
                char32_t c = random() % 0x110000;
                if (c >= 0xd800 && c <= 0xdfff)
                    c = 0x301;
                s += utf8(c);
                break;
            }
            default:
                s += static_cast<char>(' ' + random() % 95);
            }
        }
        const std::string once = plain(s);
        REQUIRE(parsed(once) == s);
        REQUIRE(parsed("\"" + text<json_embedding::embedded>(s) + "\"") == once);
    }
}

TEST_CASE("special bytes are found at every offset of a long string", "[bson]") {
    for (const char special : {'"', '\\', '\x1f', '\x7f', '\x01'})
        for (std::size_t length = 1; length <= 24; ++length)
            for (std::size_t at = 0; at < length; ++at) {
                std::string s(length, '!');
                s[at] = special;
                REQUIRE(parsed(plain(s)) == s);
                REQUIRE(plain(s).size() > length + 2);
            }
    // Neighbours of the limits are plain.
    const std::string neighbours = "!#[]~ !#[]~ !#[]~ ";
    CHECK(plain(neighbours) == "\"" + neighbours + "\"");
}

TEST_CASE("the table of verbatim characters has no surrogates and all of printable ASCII",
          "[bson]") {
    for (char32_t c = 0; c < 0x80; ++c)
        CHECK(bson::is_verbatim(static_cast<char16_t>(c)) == (c >= 0x20 && c < 0x7f));
    for (char32_t c = 0xd800; c < 0xf900; ++c)
        CHECK_FALSE(bson::is_verbatim(static_cast<char16_t>(c)));
}
