// SPDX-License-Identifier: Apache-2.0
#include "core/json/writer.hpp"

#include "core/json/utf8.hpp"

#include <algorithm>
#include <charconv>

namespace cdc::json {

namespace {

// Growing fills the new tail with zeros, so it goes in steps that cost little when they are not
// used.
constexpr std::size_t growth_step = 512;

char short_escape(char c) noexcept {
    switch (c) {
    case '"':
        return '"';
    case '\\':
        return '\\';
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

} // namespace

void writer::grow(std::size_t size) {
    const auto used = static_cast<std::size_t>(at_ - out_.data());
    out_.resize(used + std::max(size, growth_step));
    at_ = out_.data() + used;
    end_ = out_.data() + out_.size();
}

void writer::append_past_end(std::string_view text) {
    close();
    out_.append(text);
    at_ = end_ = out_.data() + out_.size();
}

void writer::close() noexcept {
    out_.resize(static_cast<std::size_t>(at_ - out_.data()));
    end_ = at_;
}

void writer::integer(std::int64_t value) {
    char* to = need(20);
    advance_to(std::to_chars(to, to + 20, value).ptr);
}

void writer::string(std::string_view text) {
    static constexpr char digits[] = "0123456789ABCDEF";
    const char* at = text.data();
    const char* const end = at + text.size();
    char* to = need(text.size() + 16);
    *to++ = '"';
    while (at != end) {
        advance_to(to);
        to = need(static_cast<std::size_t>(end - at) + 16);
        const auto c = static_cast<std::uint8_t>(*at);
        if (const char escape = short_escape(*at)) {
            *to++ = '\\';
            *to++ = escape;
            ++at;
        } else if (c < 0x20) {
            to = std::copy_n("\\u00", 4, to);
            *to++ = digits[c >> 4];
            *to++ = digits[c & 0xf];
            ++at;
        } else if (c < 0x80) {
            *to++ = *at++;
        } else {
            const utf8_scalar scalar = read_utf8(at, end);
            if (scalar.valid)
                to = std::copy_n(at, scalar.size, to);
            else
                to = std::copy_n("\xef\xbf\xbd", 3, to);
            at += scalar.size;
        }
    }
    *to++ = '"';
    advance_to(to);
}

} // namespace cdc::json
