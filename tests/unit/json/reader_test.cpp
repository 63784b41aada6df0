// SPDX-License-Identifier: Apache-2.0
#include "core/json/reader.hpp"
#include "tests/support/catch.hpp"

using cdc::error::errc;
using cdc::json::reader;

TEST_CASE("the JSON reader gives members by name and type", "[json]") {
    const auto object = reader::parse(R"({"s":"t\u00e9xt","n":18446744073709551615,"neg":-1})");
    REQUIRE(object);
    CHECK(*object->string("s") == "t\u00e9xt");
    CHECK(*object->unsigned_integer("n") == 18446744073709551615U);
    for (const char* wrong : {"missing", "n", "neg"}) {
        INFO(wrong);
        const auto s = object->string(wrong);
        REQUIRE_FALSE(s);
        CHECK(s.error().code == errc::bad_data);
        CHECK(s.error().text.find(wrong) != std::string::npos);
    }
    CHECK_FALSE(object->unsigned_integer("neg"));
    CHECK_FALSE(object->unsigned_integer("s"));
}

TEST_CASE("the JSON reader refuses what is not one object", "[json]") {
    for (const char* text : {"", "[]", "1", "{", "{}x", R"({"a":1,})", "{\"a\":\"\xff\"}"}) {
        INFO(text);
        const auto object = reader::parse(text);
        REQUIRE_FALSE(object);
        CHECK(object.error().code == errc::bad_data);
    }
}
