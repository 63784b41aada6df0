// SPDX-License-Identifier: Apache-2.0
#include "core/bson/number_text.hpp"

#include <bson/bson.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace cdc::bson {

namespace {

char* write_two_digits(char* to, unsigned value) noexcept {
    *to++ = static_cast<char>('0' + value / 10);
    *to++ = static_cast<char>('0' + value % 10);
    return to;
}

/// Decimal digits and the power of ten of the first one.
struct scientific {
    char digits[24];
    int count = 0;
    int exponent = 0;
};

scientific take_apart(double positive) noexcept {
    char text[40];
    char* end =
        std::to_chars(text, text + sizeof text, positive, std::chars_format::scientific).ptr;
    // Only values with very few significant bits have a single digit that is not exact; for them
    // the nearest two digits are wanted.
    if (text[1] == 'e' && positive < std::numeric_limits<double>::min())
        end =
            std::to_chars(text, text + sizeof text, positive, std::chars_format::scientific, 1).ptr;
    scientific out;
    const char* at = text;
    for (; *at != 'e'; ++at)
        if (*at != '.')
            out.digits[out.count++] = *at;
    ++at;
    if (*at == '+')
        ++at;
    std::from_chars(at, end, out.exponent);
    return out;
}

} // namespace

char* write_double(char* to, double finite) noexcept {
    if (std::signbit(finite)) {
        *to++ = '-';
        finite = -finite;
    }
    // Whole numbers are frequent and need no search for the shortest digits.
    if (finite < 1e7) {
        const auto whole = static_cast<std::int32_t>(finite);
        if (static_cast<double>(whole) == finite) {
            to = std::to_chars(to, to + 10, whole).ptr;
            *to++ = '.';
            *to++ = '0';
            return to;
        }
    }
    const scientific s = take_apart(finite);
    const char* const digits = s.digits;
    if (finite >= 1e7 || finite < 1e-3) {
        *to++ = digits[0];
        *to++ = '.';
        if (s.count == 1)
            *to++ = '0';
        else
            to = std::copy_n(digits + 1, s.count - 1, to);
        *to++ = 'E';
        return std::to_chars(to, to + 6, s.exponent).ptr;
    }
    if (s.exponent < 0) {
        *to++ = '0';
        *to++ = '.';
        to = std::fill_n(to, -s.exponent - 1, '0');
        return std::copy_n(digits, s.count, to);
    }
    // A fraction remains behind the point: whole numbers of this range were written above.
    to = std::copy_n(digits, s.exponent + 1, to);
    *to++ = '.';
    return std::copy_n(digits + s.exponent + 1, s.count - s.exponent - 1, to);
}

char* write_decimal128(char* to, cursor::decimal128_value value) noexcept {
    static_assert(max_number_text >= BSON_DECIMAL128_STRING);
    bson_decimal128_t d;
    d.low = value.low;
    d.high = value.high;
    bson_decimal128_to_string(&d, to);
    return to + std::string_view{to}.size();
}

char* write_iso_date(char* to, std::int64_t ms) noexcept {
    namespace ch = std::chrono;
    const ch::sys_time<ch::milliseconds> at{ch::milliseconds{ms}};
    const auto day = ch::floor<ch::days>(at);
    const ch::year_month_day date{day};
    const ch::hh_mm_ss time{at - day};
    const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
    to = write_two_digits(to, year / 100);
    to = write_two_digits(to, year % 100);
    *to++ = '-';
    to = write_two_digits(to, static_cast<unsigned>(date.month()));
    *to++ = '-';
    to = write_two_digits(to, static_cast<unsigned>(date.day()));
    *to++ = 'T';
    to = write_two_digits(to, static_cast<unsigned>(time.hours().count()));
    *to++ = ':';
    to = write_two_digits(to, static_cast<unsigned>(time.minutes().count()));
    *to++ = ':';
    to = write_two_digits(to, static_cast<unsigned>(time.seconds().count()));
    if (const auto fraction = static_cast<unsigned>(time.subseconds().count())) {
        *to++ = '.';
        *to++ = static_cast<char>('0' + fraction / 100);
        if (fraction % 100 != 0)
            *to++ = static_cast<char>('0' + fraction / 10 % 10);
        if (fraction % 10 != 0)
            *to++ = static_cast<char>('0' + fraction % 10);
    }
    *to++ = 'Z';
    return to;
}

} // namespace cdc::bson
