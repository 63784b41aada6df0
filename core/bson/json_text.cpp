// SPDX-License-Identifier: Apache-2.0
#include "core/bson/json_text.hpp"

#include "core/bson/verbatim_characters.hpp"
#include "core/json/utf8.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace cdc::bson {

namespace {

// The longest escape of one character: two code units of `\\uXXXX`.
constexpr std::size_t longest_escape = 14;

/// ASCII bytes that are copied as they are; everything else needs a look.
constexpr std::array<bool, 256> plain_byte = [] {
    std::array<bool, 256> out{};
    for (int c = 0x20; c < 0x7f; ++c)
        out[static_cast<std::size_t>(c)] = c != '"' && c != '\\';
    return out;
}();

/// The letter of the short escape, 0 when there is none.
constexpr std::array<char, 128> short_escape = [] {
    std::array<char, 128> out{};
    out['"'] = '"';
    out['\\'] = '\\';
    out['\b'] = 'b';
    out['\f'] = 'f';
    out['\n'] = 'n';
    out['\r'] = 'r';
    out['\t'] = 't';
    return out;
}();

constexpr std::uint64_t every_byte(std::uint8_t value) noexcept {
    return 0x0101010101010101ULL * value;
}

/// The high bit of each byte that is not plain_byte; exact up to the first one, which is all that
/// is asked (a borrow or carry only comes out of a byte that is found itself).
std::uint64_t find_special(std::uint64_t eight) noexcept {
    constexpr std::uint64_t ones = every_byte(1);
    const std::uint64_t quote = eight ^ every_byte('"');
    const std::uint64_t backslash = eight ^ every_byte('\\');
    return (((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) |
            ((eight - every_byte(0x20)) & ~eight) | (eight + ones) | eight) &
           every_byte(0x80);
}

template <json_embedding E>
char* put_backslash(char* to) noexcept {
    *to++ = '\\';
    if constexpr (E == json_embedding::embedded)
        *to++ = '\\';
    return to;
}

template <json_embedding E>
char* put_quote(char* to) noexcept {
    if constexpr (E == json_embedding::embedded)
        *to++ = '\\';
    *to++ = '"';
    return to;
}

template <json_embedding E>
char* put_code_unit(char* to, std::uint32_t unit) noexcept {
    static constexpr char digits[] = "0123456789abcdef";
    to = put_backslash<E>(to);
    *to++ = 'u';
    *to++ = digits[unit >> 12 & 0xf];
    *to++ = digits[unit >> 8 & 0xf];
    *to++ = digits[unit >> 4 & 0xf];
    *to++ = digits[unit & 0xf];
    return to;
}

/// Writes the character at `at`, whatever it is, and steps over it.
template <json_embedding E>
char* put_special(char* to, const char*& at, const char* end) noexcept {
    const auto byte = static_cast<std::uint8_t>(*at);
    if (byte < 0x80) {
        ++at;
        if (byte == '"')
            return put_quote<E>(put_backslash<E>(to));
        if (byte == '\\')
            return put_backslash<E>(put_backslash<E>(to));
        if (const char letter = short_escape[byte]) {
            to = put_backslash<E>(to);
            *to++ = letter;
            return to;
        }
        return put_code_unit<E>(to, byte);
    }
    const json::utf8_scalar scalar = json::read_utf8(at, end);
    if (!scalar.valid)
        to = std::copy_n("\xef\xbf\xbd", 3, to);
    else if (scalar.value > 0xffff) {
        to = put_code_unit<E>(to, 0xd7c0U + (scalar.value >> 10));
        to = put_code_unit<E>(to, 0xdc00U | (scalar.value & 0x3ffU));
    } else if (is_verbatim(static_cast<char16_t>(scalar.value)))
        to = std::copy_n(at, scalar.size, to);
    else
        to = put_code_unit<E>(to, scalar.value);
    at += scalar.size;
    return to;
}

} // namespace

template <json_embedding E>
void append_text(json::writer& out, std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    char* to = put_quote<E>(out.need(text.size() + 2 * longest_escape));
    for (;;) {
        // Eight bytes are stored before they are judged: what follows overwrites the surplus.
        while (end - at >= 8) {
            std::uint64_t eight;
            std::memcpy(&eight, at, 8);
            std::memcpy(to, &eight, 8);
            if (const std::uint64_t special = find_special(eight)) {
                const auto plain = std::countr_zero(special) / 8;
                at += plain;
                to += plain;
                break;
            }
            at += 8;
            to += 8;
        }
        while (at != end && plain_byte[static_cast<std::uint8_t>(*at)])
            *to++ = *at++;
        if (at == end)
            break;
        to = put_special<E>(to, at, end);
        out.advance_to(to);
        to = out.need(static_cast<std::size_t>(end - at) + 2 * longest_escape);
    }
    out.advance_to(put_quote<E>(to));
}

template void append_text<json_embedding::plain>(json::writer&, std::string_view);
template void append_text<json_embedding::embedded>(json::writer&, std::string_view);

} // namespace cdc::bson
