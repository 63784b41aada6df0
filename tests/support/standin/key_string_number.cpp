// SPDX-License-Identifier: Apache-2.0
// How numbers stand in a key string, so that all four numeric types share one order.
#include "tests/support/standin/key_string.hpp"

#include <bson/bson.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace cdc::test::standin {

namespace {

constexpr int numeric_nan = 30;
constexpr int negative_large = 31;
constexpr int negative_one_byte = 39;
constexpr int negative_small = 40;
constexpr int zero = 41;
constexpr int positive_small = 42;
constexpr int positive_one_byte = 43;
constexpr int positive_large = 51;

constexpr double two_to_53 = 9007199254740992.0;
constexpr double two_to_63 = 9223372036854775808.0;
constexpr unsigned bits_decimal = 3;
constexpr unsigned bits_decimal_zero = 0x19; // 0x19 to 0x1e, five bits
constexpr unsigned exponent_bits_kept = 6;
constexpr unsigned exponent_bias = 6176;
constexpr unsigned biased_exponents = 12288;

// How a decimal relates to the double below it, in the lowest bits of that double's encoding.
constexpr unsigned equal_to_double = 0;
constexpr unsigned below_rounded = 1;
constexpr unsigned equal_to_rounded = 2; // the double rounded up to 15 digits is the decimal
constexpr unsigned above_rounded = 3;

__extension__ using uint128 = unsigned __int128;

/// Ten to the 18th: numbers from two to the 53rd on have 16 digits or more before the point, of 34.
constexpr uint128 largest_unit = 1'000'000'000'000'000'000;

class rounding {
  public:
    explicit rounding(int mode) noexcept
        : before_(std::fegetround()) {
        std::fesetround(mode);
    }
    ~rounding() { std::fesetround(before_); }
    rounding(const rounding&) = delete;
    rounding& operator=(const rounding&) = delete;

  private:
    int before_;
};

/// A positive finite decimal number: 0.DIGITS times ten to `exponent`, 34 digits.
struct digits {
    uint128 coefficient = 0; ///< 34 digits, the first of them not zero
    int exponent = 0;
};

/// From text as printf("%e") and libbson write it, without sign.
digits parse(std::string_view text) {
    digits out;
    int seen = 0;
    int point = 0;
    bool after_point = false;
    std::size_t i = 0;
    for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
        if (text[i] == '.') {
            after_point = true;
            continue;
        }
        if (out.coefficient == 0 && text[i] == '0') {
            point -= after_point ? 1 : 0;
            continue;
        }
        out.coefficient = out.coefficient * 10 + static_cast<unsigned>(text[i] - '0');
        ++seen;
        point += after_point ? 0 : 1;
    }
    const int written = i < text.size() ? std::atoi(std::string(text.substr(i + 1)).c_str()) : 0;
    for (; seen < 34; ++seen)
        out.coefficient *= 10;
    out.exponent = point + written;
    return out;
}

std::string print(double v, int precision, int mode) {
    const rounding r(mode);
    char text[128];
    std::snprintf(text, sizeof text, "%.*e", precision, v);
    return text;
}

} // namespace

void key_string::append_integer(std::int64_t v) {
    if (v == 0) {
        byte(zero);
        return;
    }
    if (v == std::numeric_limits<std::int64_t>::min()) {
        append_double(-two_to_63, equal_to_double); // its magnitude is a double and no int64
        return;
    }
    append_preshifted(static_cast<std::uint64_t>(v < 0 ? -v : v) << 1U, v < 0);
}

void key_string::append_preshifted(std::uint64_t v, bool negative) {
    const int size = (64 - std::countl_zero(v) + 7) / 8;
    byte(negative ? negative_one_byte - (size - 1) : positive_one_byte + (size - 1));
    big_endian(v, size, negative);
}

void key_string::append_small_double(double magnitude, bool negative, unsigned continuation) {
    byte(negative ? negative_small : positive_small);
    std::uint64_t encoded = 0;
    if (magnitude >= std::ldexp(1.0, -255))
        encoded = (std::bit_cast<std::uint64_t>(magnitude) << 2U) | continuation;
    else
        encoded = ((std::bit_cast<std::uint64_t>(std::ldexp(magnitude, 256)) << 1U) |
                   (continuation != 0 ? 1U : 0U)) +
                  (std::uint64_t{1} << 62U);
    big_endian(encoded, 8, negative);
}

void key_string::append_double(double v, unsigned continuation) {
    if (std::isnan(v)) {
        byte(numeric_nan);
        return;
    }
    if (v == 0) {
        byte(zero);
        return;
    }
    const bool negative = v < 0;
    const double magnitude = std::fabs(v);
    if (magnitude >= two_to_63) {
        byte(negative ? negative_large : positive_large);
        std::uint64_t encoded = ~std::uint64_t{0};
        if (!std::isinf(v))
            encoded =
                ((std::bit_cast<std::uint64_t>(magnitude) << 1U) & ~(std::uint64_t{1} << 63U)) |
                (continuation != 0 ? 1U : 0U);
        big_endian(encoded, 8, negative);
        return;
    }
    if (magnitude < 1) {
        append_small_double(magnitude, negative, continuation);
        return;
    }
    const auto whole = static_cast<std::uint64_t>(magnitude);
    const double fraction = magnitude - static_cast<double>(whole);
    if (fraction == 0 && continuation == equal_to_double) {
        append_preshifted(whole << 1U, negative);
        return;
    }
    const std::uint64_t shifted = (whole << 1U) | 1U;
    const int size = (64 - std::countl_zero(shifted) + 7) / 8;
    append_preshifted(shifted, negative);
    const int rest = 8 - size;
    if (rest > 0)
        big_endian(static_cast<std::uint64_t>(std::ldexp(fraction, 8 * rest)) | continuation, rest,
                   negative);
    else
        big_endian(continuation, 1, negative);
}

void key_string::append_decimal(bson::cursor::decimal128_value v) {
    bson_decimal128_t d;
    d.low = v.low;
    d.high = v.high;
    char buffer[BSON_DECIMAL128_STRING];
    bson_decimal128_to_string(&d, buffer);
    const bool negative = (v.high >> 63U) != 0;
    const std::string_view text = std::string_view(buffer).substr(buffer[0] == '-' ? 1 : 0);
    if (text == "NaN") {
        bits(bits_decimal, 2);
        bits(0, exponent_bits_kept);
        byte(numeric_nan);
        return;
    }
    if (text == "Infinity") {
        bits(bits_decimal, 2);
        bits(0, exponent_bits_kept);
        append_double(negative ? -INFINITY : INFINITY, equal_to_double);
        return;
    }
    // The combination field: with 11 on top the coefficient would be out of range, and so zero.
    const auto exponent = static_cast<unsigned>(
        ((v.high >> 61U) & 3U) == 3U ? (v.high >> 47U) & 0x3fffU : (v.high >> 49U) & 0x3fffU);
    if (text.substr(0, text.find('E')).find_first_of("123456789") == std::string_view::npos) {
        const unsigned which = exponent + (negative ? biased_exponents : 0);
        bits(bits_decimal_zero + (which >> 12U), 5);
        bits(which & 0xfffU, 12);
        byte(zero);
        return;
    }
    bits(bits_decimal, 2);
    bits(exponent & ((1U << exponent_bits_kept) - 1U), exponent_bits_kept);

    double below = 0;
    bool inexact = false;
    {
        const rounding r(FE_TOWARDZERO);
        std::feclearexcept(FE_ALL_EXCEPT);
        below = std::strtod(std::string(text).c_str(), nullptr);
        inexact = std::fetestexcept(FE_INEXACT | FE_OVERFLOW | FE_UNDERFLOW) != 0;
        std::feclearexcept(FE_ALL_EXCEPT);
    }
    const double signed_below = negative ? -below : below;
    if (!inexact) {
        append_double(signed_below, equal_to_double);
        return;
    }
    const digits exact = parse(text);
    const auto raw = [&](int first, std::uint64_t prefix) {
        byte(first);
        big_endian(prefix + static_cast<std::uint64_t>(exact.exponent + int{exponent_bias} + 34), 8,
                   negative);
        big_endian(static_cast<std::uint64_t>(exact.coefficient >> 64U), 8, negative);
        big_endian(static_cast<std::uint64_t>(exact.coefficient), 8, negative);
    };
    if (below < DBL_MIN) {
        raw(negative ? negative_small : positive_small, 0);
        return;
    }
    if (below == DBL_MAX) {
        raw(negative ? negative_large : positive_large, std::uint64_t{1} << 63U);
        return;
    }
    if (below >= two_to_53 && below < two_to_63) {
        // A double has no room for a fraction here, and not for every integer.
        uint128 unit = 1;
        for (int i = exact.exponent; i < 34; ++i)
            unit *= 10;
        const uint128 fraction = exact.coefficient % unit;
        append_preshifted((static_cast<std::uint64_t>(exact.coefficient / unit) << 1U) |
                              (fraction != 0 ? 1U : 0U),
                          negative);
        if (fraction != 0) {
            const uint128 normal = fraction * (largest_unit / unit);
            big_endian(static_cast<std::uint64_t>(normal >> 64U), 8, negative);
            big_endian(static_cast<std::uint64_t>(normal), 8, negative);
        }
        return;
    }
    const digits rounded = parse(print(below, 14, FE_UPWARD));
    const bool same_exponent = exact.exponent == rounded.exponent;
    if (same_exponent && exact.coefficient == rounded.coefficient) {
        append_double(signed_below, equal_to_rounded);
        return;
    }
    const bool smaller =
        same_exponent ? exact.coefficient < rounded.coefficient : exact.exponent < rounded.exponent;
    append_double(signed_below, smaller ? below_rounded : above_rounded);
    const digits truncated = parse(print(below, 33, FE_TOWARDZERO));
    // The exponents differ only when the double below a power of ten is told apart from it.
    const uint128 more = truncated.exponent == exact.exponent
                             ? exact.coefficient - truncated.coefficient
                             : exact.coefficient * 10 - truncated.coefficient;
    big_endian(static_cast<std::uint64_t>(std::min(more, uint128{~std::uint64_t{0}})), 8, negative);
}

} // namespace cdc::test::standin
