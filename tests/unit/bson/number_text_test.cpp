// SPDX-License-Identifier: Apache-2.0
#include "core/bson/number_text.hpp"
#include "tests/support/catch.hpp"

#include <bson/bson.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

using namespace cdc::bson;

namespace {

std::string text(double value) {
    char out[max_number_text];
    return {out, write_double(out, value)};
}

std::string date_text(std::int64_t ms) {
    char out[max_number_text];
    return {out, write_iso_date(out, ms)};
}

std::string decimal_text(std::uint64_t high, std::uint64_t low) {
    char out[max_number_text];
    return {out, write_decimal128(out, {low, high})};
}

std::string decimal_text(const char* written) {
    bson_decimal128_t d;
    REQUIRE(bson_decimal128_from_string(written, &d));
    return decimal_text(d.high, d.low);
}

} // namespace

TEST_CASE("doubles are written as Java prints them", "[bson]") {
    const std::pair<double, const char*> cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.5, "-1.5"},
        {100.0, "100.0"},
        {12.34, "12.34"},
        {0.1, "0.1"},
        {0.001, "0.001"},
        {0.0010000000000000002, "0.0010000000000000002"},
        {0.012, "0.012"},
        {9.99e-4, "9.99E-4"},
        {1e-10, "1.0E-10"},
        {9999999.0, "9999999.0"},
        {9999999.999999998, "9999999.999999998"},
        {1e7, "1.0E7"},
        {-1e7, "-1.0E7"},
        {12345678.9, "1.23456789E7"},
        {1e10, "1.0E10"},
        {1e21, "1.0E21"},
        {1e22, "1.0E22"},
        {1e23, "1.0E23"},
        {2e23, "2.0E23"},
        {1e300, "1.0E300"},
        {9007199254740992.0, "9.007199254740992E15"},
        {1.2345678901234568e17, "1.2345678901234568E17"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {1.7976931348623157e308, "1.7976931348623157E308"},
        {2.2250738585072014e-308, "2.2250738585072014E-308"},
        // Subnormals with one digit: the nearest two digits, not a zero appended.
        {4.9e-324, "4.9E-324"},
        {9.9e-324, "9.9E-324"},
        {1.5e-323, "1.5E-323"},
        {2.0e-323, "2.0E-323"},
        {9.88131291682493e-323, "9.9E-323"},
    };
    for (const auto& [value, expected] : cases)
        CHECK(text(value) == expected);
}

TEST_CASE("every double reads back to the same bits from a short text", "[bson]") {
    std::mt19937_64 random{20240917};
    for (int i = 0; i < 200000; ++i) {
        const double value = std::bit_cast<double>(random());
        if (!std::isfinite(value))
            continue;
        const std::string t = text(value);
        if (std::bit_cast<std::uint64_t>(std::strtod(t.c_str(), nullptr)) !=
                std::bit_cast<std::uint64_t>(value) ||
            t.size() > 25)
            FAIL(t);
    }
    // Ordinary magnitudes go through the plain forms.
    std::uniform_real_distribution<double> ordinary{-2e7, 2e7};
    for (int i = 0; i < 200000; ++i) {
        const double value = ordinary(random) * (i % 3 == 0 ? 1e-8 : 1.0);
        if (std::strtod(text(value).c_str(), nullptr) != value)
            FAIL(text(value));
    }
}

TEST_CASE("decimals keep every digit and the sign of zero", "[bson]") {
    for (const char* same : {"0",
                             "-0",
                             "0.10",
                             "1.10",
                             "123.4500",
                             "1E+3",
                             "-1E+3",
                             "1E-7",
                             "0.000001",
                             "1.2E-7",
                             "12345678901234567890.12",
                             "1.000000000000000000000000000000000E+6144",
                             "9.999999999999999999999999999999999E+6144",
                             "1E-6176",
                             "0E+3",
                             "0E-7",
                             "0.000000",
                             "1.23E+5",
                             "NaN",
                             "Infinity",
                             "-Infinity"})
        CHECK(decimal_text(same) == same);
    CHECK(decimal_text("0.0000001") == "1E-7");
    CHECK(decimal_text("100E-1") == "10.0");
    // A NaN's sign and payload have no text; a significand beyond 34 digits counts as zero.
    CHECK(decimal_text(0xfc00000000000001, 1) == "NaN");
    CHECK(decimal_text(0x6c10000000000000, 0) == "0");
}

TEST_CASE("dates have as few fraction digits as hold the milliseconds", "[bson]") {
    CHECK(date_text(0) == "1970-01-01T00:00:00Z");
    CHECK(date_text(1) == "1970-01-01T00:00:00.001Z");
    CHECK(date_text(10) == "1970-01-01T00:00:00.01Z");
    CHECK(date_text(1508371200500) == "2017-10-19T00:00:00.5Z");
    CHECK(date_text(1508371200729) == "2017-10-19T00:00:00.729Z");
    CHECK(date_text(1582977600001) == "2020-02-29T12:00:00.001Z");
    CHECK(date_text(253402300799999) == "9999-12-31T23:59:59.999Z");
}
