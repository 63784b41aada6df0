// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/bson/extended_json.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bson/libbson_document.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace cdc;
using bson::json_embedding;
using bson::json_format;
using test::libbson_document;

namespace {

std::string text(bson::view doc, json_format format,
                 json_embedding embedding = json_embedding::plain) {
    std::string out;
    json::writer to{out};
    REQUIRE(bson::write_json(to, doc, format, embedding));
    to.close();
    return out;
}

/// All three formats at once: strict compact, relaxed compact, relaxed spaced.
void check(bson::view doc, const std::string& strict, const std::string& relaxed,
           const std::string& spaced) {
    const std::pair<json_format, const std::string*> cases[] = {
        {json_format::strict_compact, &strict},
        {json_format::relaxed_compact, &relaxed},
        {json_format::relaxed_spaced, &spaced}};
    for (const auto& [format, expected] : cases) {
        const std::string plain = text(doc, format);
        CHECK(plain == *expected);
        // Any JSON parser takes it, and the embedded form is the same text inside a string.
        simdjson::dom::parser parser;
        CHECK(parser.parse(plain).error() == simdjson::SUCCESS);
        const std::string embedded = "\"" + text(doc, format, json_embedding::embedded) + "\"";
        std::string_view inner;
        REQUIRE(parser.parse(embedded).get_string().get(inner) == simdjson::SUCCESS);
        CHECK(inner == plain);
    }
}

void check(bson::view doc, const std::string& strict, const std::string& relaxed) {
    check(doc, strict, relaxed, relaxed);
}

void check(bson::view doc, const std::string& all) {
    check(doc, all, all, all);
}

} // namespace

TEST_CASE("numbers in extended JSON", "[bson]") {
    libbson_document d;
    BSON_APPEND_INT32(d, "i", -5);
    BSON_APPEND_INT64(d, "l", std::numeric_limits<std::int64_t>::min());
    BSON_APPEND_DOUBLE(d, "d", 5.0);
    check(d.view(), R"({"i": -5,"l": {"$numberLong": "-9223372036854775808"},"d": 5.0})",
          R"({"i": -5,"l": -9223372036854775808,"d": 5.0})",
          R"({"i": -5, "l": -9223372036854775808, "d": 5.0})");

    libbson_document decimal;
    bson_decimal128_t value;
    REQUIRE(bson_decimal128_from_string("-0.10", &value));
    BSON_APPEND_DECIMAL128(decimal, "v", &value);
    check(decimal.view(), R"({"v": {"$numberDecimal": "-0.10"}})");
}

TEST_CASE("doubles that JSON has no number for are always valid JSON", "[bson]") {
    libbson_document d;
    BSON_APPEND_DOUBLE(d, "n", std::nan(""));
    BSON_APPEND_DOUBLE(d, "p", HUGE_VAL);
    BSON_APPEND_DOUBLE(d, "m", -HUGE_VAL);
    const std::string compact =
        R"({"n": {"$numberDouble": "NaN"},"p": {"$numberDouble": "Infinity"},"m": {"$numberDouble": "-Infinity"}})";
    const std::string spaced =
        R"({"n": {"$numberDouble": "NaN"}, "p": {"$numberDouble": "Infinity"}, "m": {"$numberDouble": "-Infinity"}})";
    check(d.view(), compact, compact, spaced);
}

TEST_CASE("booleans, null, keys and undefined in extended JSON", "[bson]") {
    libbson_document d;
    BSON_APPEND_BOOL(d, "t", true);
    BSON_APPEND_BOOL(d, "f", false);
    check(d.view(), R"({"t": true,"f": false})", R"({"t": true,"f": false})",
          R"({"t": true, "f": false})");
    libbson_document n;
    BSON_APPEND_NULL(n, "v");
    check(n.view(), R"({"v": null})");
    libbson_document u;
    BSON_APPEND_UNDEFINED(u, "v");
    check(u.view(), R"({"v": {"$undefined": true}})");
    libbson_document lo;
    BSON_APPEND_MINKEY(lo, "v");
    check(lo.view(), R"({"v": {"$minKey": 1}})");
    libbson_document hi;
    BSON_APPEND_MAXKEY(hi, "v");
    check(hi.view(), R"({"v": {"$maxKey": 1}})");
}

TEST_CASE("dates in extended JSON", "[bson]") {
    const std::tuple<std::int64_t, const char*, const char*> cases[] = {
        {0, "0", R"("1970-01-01T00:00:00Z")"},
        {1508371200500, "1508371200500", R"("2017-10-19T00:00:00.5Z")"},
        {253402300799999, "253402300799999", R"("9999-12-31T23:59:59.999Z")"},
        {253402300800000, "253402300800000", R"({"$numberLong": "253402300800000"})"},
        {-1, "-1", R"({"$numberLong": "-1"})"},
        {std::numeric_limits<std::int64_t>::max(), "9223372036854775807",
         R"({"$numberLong": "9223372036854775807"})"},
        {std::numeric_limits<std::int64_t>::min(), "-9223372036854775808",
         R"({"$numberLong": "-9223372036854775808"})"}};
    for (const auto& [ms, strict, relaxed] : cases) {
        libbson_document d;
        BSON_APPEND_DATE_TIME(d, "d", ms);
        check(d.view(), R"({"d": {"$date": )" + std::string{strict} + "}}",
              R"({"d": {"$date": )" + std::string{relaxed} + "}}");
    }
}

TEST_CASE("ids, timestamps and binary data in extended JSON", "[bson]") {
    libbson_document d;
    bson_oid_t oid;
    bson_oid_init_from_string(&oid, "596E275826F08B2730779E1F");
    BSON_APPEND_OID(d, "v", &oid);
    check(d.view(), R"({"v": {"$oid": "596e275826f08b2730779e1f"}})");

    libbson_document t;
    BSON_APPEND_TIMESTAMP(t, "v", 4294967295U, 4294967295U);
    check(t.view(), R"({"v": {"$timestamp": {"t": 4294967295,"i": 4294967295}}})",
          R"({"v": {"$timestamp": {"t": 4294967295,"i": 4294967295}}})",
          R"({"v": {"$timestamp": {"t": 4294967295, "i": 4294967295}}})");

    const std::uint8_t bytes[] = {'k', 'a', 'f', 'k', 'a'};
    for (const int subtype : {0x00, 0x02, 0x03, 0x04, 0x05, 0x80, 0xfa}) {
        libbson_document b;
        BSON_APPEND_BINARY(b, "v", static_cast<bson_subtype_t>(subtype), bytes, 5);
        char hex[3];
        snprintf(hex, sizeof hex, "%02X", static_cast<unsigned>(subtype));
        const std::string sub = hex;
        check(b.view(), R"({"v": {"$binary": "a2Fma2E=","$type": ")" + sub + R"("}})",
              R"({"v": {"$binary": {"base64": "a2Fma2E=","subType": ")" + sub + R"("}}})",
              R"({"v": {"$binary": {"base64": "a2Fma2E=", "subType": ")" + sub + R"("}}})");
    }
    libbson_document empty;
    BSON_APPEND_BINARY(empty, "v", BSON_SUBTYPE_BINARY, bytes, 0);
    CHECK(text(empty.view(), json_format::strict_compact) ==
          R"({"v": {"$binary": "","$type": "00"}})");
}

TEST_CASE("expressions and code in extended JSON", "[bson]") {
    libbson_document r;
    BSON_APPEND_REGEX(r, "v", "a/b\"c", "imx");
    check(r.view(), R"({"v": {"$regex": "a/b\"c","$options": "imx"}})",
          R"({"v": {"$regularExpression": {"pattern": "a/b\"c","options": "imx"}}})",
          R"({"v": {"$regularExpression": {"pattern": "a/b\"c", "options": "imx"}}})");

    libbson_document c;
    BSON_APPEND_CODE(c, "v", "return 1");
    check(c.view(), R"({"v": {"$code": "return 1"}})");

    libbson_document inner;
    BSON_APPEND_INT64(inner, "x", 1);
    libbson_document s;
    BSON_APPEND_CODE_WITH_SCOPE(s, "v", "f", inner);
    BSON_APPEND_INT32(s, "after", 2);
    check(s.view(), R"({"v": {"$code": "f","$scope": {"x": {"$numberLong": "1"}}},"after": 2})",
          R"({"v": {"$code": "f","$scope": {"x": 1}},"after": 2})",
          R"({"v": {"$code": "f", "$scope": {"x": 1}}, "after": 2})");

    libbson_document y;
    BSON_APPEND_SYMBOL(y, "v", "sym\"bol");
    check(y.view(), R"({"v": {"$symbol": "sym\"bol"}})");

    libbson_document p;
    bson_oid_t oid;
    bson_oid_init_from_string(&oid, "596e275826f08b2730779e1f");
    BSON_APPEND_DBPOINTER(p, "v", "db.coll", &oid);
    check(p.view(), R"({"v": {"$ref": "db.coll","$id": {"$oid": "596e275826f08b2730779e1f"}}})",
          R"({"v": {"$ref": "db.coll","$id": {"$oid": "596e275826f08b2730779e1f"}}})",
          R"({"v": {"$ref": "db.coll", "$id": {"$oid": "596e275826f08b2730779e1f"}}})");
}

TEST_CASE("every type in canonical extended JSON", "[bson]") {
    const auto check_extended = [](libbson_document& d, const std::string& value) {
        const std::string expected = R"({"v": )" + value + "}";
        CHECK(text(d.view(), json_format::extended_compact) == expected);
        simdjson::dom::parser parser;
        CHECK(parser.parse(expected).error() == simdjson::SUCCESS);
    };
    const auto of = [&](auto append, const std::string& value) {
        libbson_document d;
        append(d);
        check_extended(d, value);
    };
    of([](auto& d) { BSON_APPEND_DOUBLE(d, "v", 5.0); }, R"({"$numberDouble": "5.0"})");
    of([](auto& d) { BSON_APPEND_DOUBLE(d, "v", -HUGE_VAL); }, R"({"$numberDouble": "-Infinity"})");
    of([](auto& d) { BSON_APPEND_INT32(d, "v", -5); }, R"({"$numberInt": "-5"})");
    of([](auto& d) { BSON_APPEND_INT64(d, "v", 5); }, R"({"$numberLong": "5"})");
    of([](auto& d) { BSON_APPEND_UTF8(d, "v", "x"); }, R"("x")");
    of([](auto& d) { BSON_APPEND_BOOL(d, "v", true); }, "true");
    of([](auto& d) { BSON_APPEND_NULL(d, "v"); }, "null");
    of([](auto& d) { BSON_APPEND_DATE_TIME(d, "v", 1508371200000); },
       R"({"$date": {"$numberLong": "1508371200000"}})");
    of([](auto& d) { BSON_APPEND_DATE_TIME(d, "v", -1); }, R"({"$date": {"$numberLong": "-1"}})");
    of([](auto& d) { BSON_APPEND_REGEX(d, "v", "p", "i"); },
       R"({"$regularExpression": {"pattern": "p","options": "i"}})");
    of([](auto& d) { BSON_APPEND_TIMESTAMP(d, "v", 12, 1); },
       R"({"$timestamp": {"t": 12,"i": 1}})");
    of([](auto& d) { BSON_APPEND_MINKEY(d, "v"); }, R"({"$minKey": 1})");
    of([](auto& d) { BSON_APPEND_MAXKEY(d, "v"); }, R"({"$maxKey": 1})");
    of([](auto& d) { BSON_APPEND_UNDEFINED(d, "v"); }, R"({"$undefined": true})");
    of([](auto& d) { BSON_APPEND_SYMBOL(d, "v", "s"); }, R"({"$symbol": "s"})");
    of([](auto& d) { BSON_APPEND_CODE(d, "v", "js"); }, R"({"$code": "js"})");
    of(
        [](auto& d) {
            libbson_document scope;
            BSON_APPEND_INT32(scope, "x", 1);
            BSON_APPEND_CODE_WITH_SCOPE(d, "v", "js", scope);
        },
        R"({"$code": "js","$scope": {"x": {"$numberInt": "1"}}})");
    of(
        [](auto& d) {
            const std::uint8_t bytes[] = {'k', 'a', 'f', 'k', 'a'};
            BSON_APPEND_BINARY(d, "v", BSON_SUBTYPE_BINARY, bytes, 5);
        },
        R"({"$binary": {"base64": "a2Fma2E=","subType": "00"}})");
    of(
        [](auto& d) {
            bson_oid_t oid;
            bson_oid_init_from_string(&oid, "596e275826f08b2730779e1f");
            BSON_APPEND_DBPOINTER(d, "v", "db.coll", &oid);
        },
        R"({"$dbPointer": {"$ref": "db.coll","$id": {"$oid": "596e275826f08b2730779e1f"}}})");
    of(
        [](auto& d) {
            bson_decimal128_t value;
            REQUIRE(bson_decimal128_from_string("1.10", &value));
            BSON_APPEND_DECIMAL128(d, "v", &value);
        },
        R"({"$numberDecimal": "1.10"})");
}

TEST_CASE("bare words for doubles that JSON has no number for, when asked for", "[bson]") {
    libbson_document d;
    BSON_APPEND_DOUBLE(d, "n", std::nan(""));
    BSON_APPEND_DOUBLE(d, "p", HUGE_VAL);
    BSON_APPEND_DOUBLE(d, "m", -HUGE_VAL);
    BSON_APPEND_DOUBLE(d, "d", 1.5);
    BSON_APPEND_INT64(d, "l", 1);
    CHECK(text(d.view(), json_format::strict_bare_compact) ==
          R"({"n": NaN,"p": Infinity,"m": -Infinity,"d": 1.5,"l": {"$numberLong": "1"}})");
}

TEST_CASE("documents and arrays keep order, odd names and repeated names", "[bson]") {
    check(bson::view{}, "{}");

    libbson_document inner;
    libbson_document list;
    BSON_APPEND_INT32(list, "0", 1);
    BSON_APPEND_ARRAY(list, "1", inner);
    BSON_APPEND_DOCUMENT(list, "2", inner);
    libbson_document d;
    BSON_APPEND_INT32(d, "b", 1);
    BSON_APPEND_ARRAY(d, "a", list);
    BSON_APPEND_INT32(d, "b", 2);
    BSON_APPEND_INT32(d, "", 3);
    BSON_APPEND_INT32(d, "a.b", 4);
    BSON_APPEND_INT32(d, "$x\"\n", 5);
    check(d.view(), R"({"b": 1,"a": [1,[],{}],"b": 2,"": 3,"a.b": 4,"$x\"\n": 5})",
          R"({"b": 1,"a": [1,[],{}],"b": 2,"": 3,"a.b": 4,"$x\"\n": 5})",
          R"({"b": 1, "a": [1, [], {}], "b": 2, "": 3, "a.b": 4, "$x\"\n": 5})");
}

TEST_CASE("nesting has no limit of its own", "[bson]") {
    // Documents, arrays and scopes in turn; 180 is what servers accept, 16 where the writer's list
    // of open documents leaves the stack.
    for (const int depth : {1, 15, 16, 17, 18, 180, 200, 5000}) {
        bson::document d = bson::builder{}.string("leaf", "innermost").finish();
        std::string expected = R"({"leaf": "innermost"})";
        for (int i = 1; i < depth; ++i) {
            if (i % 3 == 0) {
                bson::builder list;
                list.document("0", d).int32("1", i);
                d = bson::builder{}.array("a", list.finish()).finish();
                expected = "{\"a\": [" + expected + "," + std::to_string(i) + "]}";
            } else if (i % 3 == 1) {
                d = bson::builder{}.document("d", d).int32("n", i).finish();
                expected = "{\"d\": " + expected + ",\"n\": " + std::to_string(i) + "}";
            } else {
                libbson_document code;
                bson_t scope;
                REQUIRE(bson_init_static(&scope, d.view().data(), d.size()));
                BSON_APPEND_CODE_WITH_SCOPE(code, "c", "f", &scope);
                d = bson::document::copy_of(code.view());
                expected = R"({"c": {"$code": "f","$scope": )" + expected + "}}";
            }
        }
        if (text(d, json_format::strict_compact) != expected)
            FAIL("depth " << depth);
    }
}

TEST_CASE("strings that are not UTF-8 still make valid JSON", "[bson]") {
    const auto d = test::document_with_string("na\xffme", "\xdc\x28");
    check(d, "{\"na\ufffdme\": \"\ufffd(\"}");
    const auto nul = test::document_with_string("v", std::string_view{"a\0b", 3});
    check(nul, R"({"v": "a\u0000b"})");
}

TEST_CASE("one value without its name", "[bson]") {
    libbson_document list;
    BSON_APPEND_DOUBLE(list, "0", 10.0);
    libbson_document scope;
    libbson_document d;
    BSON_APPEND_UTF8(d, "s", "abc");
    BSON_APPEND_INT64(d, "l", 1004);
    BSON_APPEND_ARRAY(d, "a", list);
    BSON_APPEND_CODE_WITH_SCOPE(d, "c", "x", scope);
    std::string out;
    json::writer to{out};
    for (bson::cursor c{d.view()}; c.next();) {
        REQUIRE(bson::write_json(to, c, json_format::relaxed_compact, json_embedding::plain));
        to.raw("\n");
    }
    to.close();
    CHECK(out == "\"abc\"\n1004\n[10.0]\n{\"$code\": \"x\",\"$scope\": {}}\n");
}

TEST_CASE("malformed BSON is an error at every depth", "[bson]") {
    libbson_document inner;
    BSON_APPEND_UTF8(inner, "s", "text");
    libbson_document d;
    BSON_APPEND_INT32(d, "i", 1);
    BSON_APPEND_DOCUMENT(d, "d", inner);
    const auto view = d.view();
    std::size_t refused = 0;
    for (std::size_t at = 4; at < view.size() - 1; ++at) {
        std::vector<std::uint8_t> bytes{view.data(), view.data() + view.size()};
        bytes[at] ^= 0x55;
        const auto broken = bson::view::from(bytes);
        REQUIRE(broken);
        std::string out;
        json::writer to{out};
        const auto written =
            bson::write_json(to, *broken, json_format::strict_compact, json_embedding::plain);
        if (!written) {
            CHECK(written.error().code == error::errc::bad_data);
            ++refused;
        }
    }
    // Names, numbers and text may change; types and lengths may not.
    CHECK(refused >= 10);
}
