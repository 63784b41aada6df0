// SPDX-License-Identifier: Apache-2.0
#include "core/json/writer.hpp"
#include "tests/support/catch.hpp"

#include <limits>
#include <string>

using cdc::json::writer;

namespace {

std::string quoted(std::string_view text) {
    std::string out;
    writer{out}.string(text);
    return out;
}

} // namespace

TEST_CASE("the JSON writer escapes only what JSON demands", "[json]") {
    CHECK(quoted("") == R"("")");
    CHECK(quoted("plain / text") == R"("plain / text")");
    CHECK(quoted("q\"b\\") == R"("q\"b\\")");
    CHECK(quoted("\b\f\n\r\t") == R"("\b\f\n\r\t")");
    CHECK(quoted(std::string_view{"\0\x1f\x7f", 3}) == "\"\\u0000\\u001F\x7f\"");
    CHECK(quoted("h\u00e9 \u65e5 \u2028 \U0001f600") == "\"h\u00e9 \u65e5 \u2028 \U0001f600\"");
}

TEST_CASE("the JSON writer replaces what is not UTF-8", "[json]") {
    CHECK(quoted("\xdc\x28") == "\"\ufffd(\"");
    CHECK(quoted("a\x80z") == "\"a\ufffdz\"");
    // A cut sequence is one character, a surrogate three: each byte by itself is wrong.
    CHECK(quoted("\xe6\x97") == "\"\ufffd\"");
    CHECK(quoted("\xed\xa0\x80") == "\"\ufffd\ufffd\ufffd\"");
    CHECK(quoted("\xc0\xaf") == "\"\ufffd\ufffd\"");
    CHECK(quoted("\xf4\x90\x80\x80") == "\"\ufffd\ufffd\ufffd\ufffd\"");
    CHECK(quoted("\xf0\x9f\x98") == "\"\ufffd\"");
    CHECK(quoted("\xff") == "\"\ufffd\"");
}

TEST_CASE("the JSON writer appends and leaves nothing behind", "[json]") {
    std::string out = "before ";
    writer to{out};
    to.raw("{");
    to.integer(std::numeric_limits<std::int64_t>::min());
    to.raw(",");
    to.integer(std::numeric_limits<std::int64_t>::max());
    char* at = to.need(100);
    *at++ = '}';
    to.advance_to(at);
    to.close();
    CHECK(out == "before {-9223372036854775808,9223372036854775807}");

    // Longer than any step of growth, in both ways of appending.
    const std::string large(100000, 'x');
    to.raw(large);
    to.string(large);
    to.close();
    CHECK(out.size() == 7 + 43 - 1 + 200002);
    CHECK(out.ends_with("x\""));
}
