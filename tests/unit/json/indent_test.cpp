// SPDX-License-Identifier: Apache-2.0
#include "core/json/indent.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace cdc;

namespace {

std::string indented(std::string_view json) {
    std::string out;
    json::append_indented(out, json);
    return out;
}

} // namespace

TEST_CASE("JSON is indented by two blanks a level", "[json][indent]") {
    CHECK(indented(R"({"a":1,"b":[true,{"c":null}]})") == R"({
  "a": 1,
  "b": [
    true,
    {
      "c": null
    }
  ]
})");
}

TEST_CASE("indenting leaves scalars, strings and empty things alone", "[json][indent]") {
    for (const char* text : {"null", "-1.5e3", R"("a b")", R"("{\"a\":[1,2]}")", R"("\\")", "{}",
                             "[]", R"("ends in a quote \"")"})
        CHECK(indented(text) == text);
    CHECK(indented("[ ]") == "[]");
    CHECK(indented(R"({"a":{},"b":[]})") == "{\n  \"a\": {},\n  \"b\": []\n}");
}

TEST_CASE("white space of the text is replaced, not added to", "[json][indent]") {
    const std::string once = indented(R"({"a":[1,2],"b":"x, y: z"})");
    CHECK(indented(once) == once);
    CHECK(indented(" { \"a\" :\t[1 ,\r\n2 ] , \"b\":\"x, y: z\" } ") == once);
}
