// SPDX-License-Identifier: Apache-2.0
#include "core/event/name_adjustment.hpp"

#include "core/json/utf8.hpp"

#include <fmt/format.h>

#include <iterator>

namespace cdc::event {

namespace {

bool is_letter(char32_t c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
bool is_digit(char32_t c) noexcept {
    return c >= '0' && c <= '9';
}

void append_unit(std::string& out, char32_t unit) {
    fmt::format_to(std::back_inserter(out), "_u{}{:x}", unit < 0x100 ? "00" : "",
                   static_cast<std::uint32_t>(unit));
}

void append_units(std::string& out, char32_t c) {
    if (c <= 0xffff) {
        append_unit(out, c);
        return;
    }
    append_unit(out, 0xd800 + ((c - 0x10000) >> 10U));
    append_unit(out, 0xdc00 + ((c - 0x10000) & 0x3ffU));
}

} // namespace

std::string adjusted(std::string_view name, name_adjustment mode) {
    if (mode == name_adjustment::none)
        return std::string{name};
    std::string out;
    const char* at = name.data();
    const char* const end = at + name.size();
    bool first = true;
    while (at != end) {
        const json::utf8_scalar c = json::read_utf8(at, end);
        at += c.size;
        const bool allowed =
            is_letter(c.value) || (!first && (is_digit(c.value) || c.value == '.'));
        if (allowed)
            out.push_back(static_cast<char>(c.value));
        else if (mode == name_adjustment::avro_unicode)
            append_units(out, c.value);
        else if (first && is_digit(c.value))
            out.append(1, '_').push_back(static_cast<char>(c.value));
        else
            out.append(c.value > 0xffff ? 2 : 1, '_');
        first = false;
    }
    return out;
}

} // namespace cdc::event
