// SPDX-License-Identifier: Apache-2.0
#include "core/bson/view.hpp"

#include <bit>

namespace cdc::bson {

static_assert(std::endian::native == std::endian::little, "BSON is read in place");

namespace {

std::uint32_t load_u32(const std::uint8_t* at) noexcept {
    std::uint32_t out;
    std::memcpy(&out, at, sizeof out);
    return out;
}

/// Size of a NUL-terminated string including its NUL, or 0 when there is none before `end`.
std::size_t cstring_size(const std::uint8_t* at, const std::uint8_t* end) noexcept {
    // Field names are short: eight bytes at a time cost less than a call of memchr.
    const std::uint8_t* from = at;
    for (; end - from >= 8; from += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, from, sizeof eight);
        // The high bit of each zero byte; exact up to the first one.
        const std::uint64_t zero = (eight - 0x0101010101010101ULL) & ~eight & 0x8080808080808080ULL;
        if (zero != 0)
            return static_cast<std::size_t>(from - at) +
                   static_cast<std::size_t>(std::countr_zero(zero)) / 8 + 1;
    }
    for (; from < end; ++from)
        if (*from == 0)
            return static_cast<std::size_t>(from - at) + 1;
    return 0;
}

/// Size of a length-prefixed string including the prefix, or 0 when it does not fit in `room`.
std::size_t string_size(const std::uint8_t* at, std::size_t room) noexcept {
    if (room < 5)
        return 0;
    const std::size_t n = load_u32(at);
    if (n == 0 || n > room - 4 || at[4 + n - 1] != 0)
        return 0;
    return 4 + n;
}

/// Size of an embedded document, or 0 when its frame is broken.
std::size_t document_size(const std::uint8_t* at, std::size_t room) noexcept {
    if (room < 5)
        return 0;
    const std::size_t n = load_u32(at);
    if (n < 5 || n > room || at[n - 1] != 0)
        return 0;
    return n;
}

} // namespace

error::result<view> view::from(std::span<const std::uint8_t> bytes) {
    if (bytes.size() < 5 || bytes.size() > 0x7fffffff || load_u32(bytes.data()) != bytes.size() ||
        bytes.back() != 0)
        return error::fail(error::errc::bad_data, "not a framed BSON document");
    return view{bytes.data(), static_cast<std::uint32_t>(bytes.size())};
}

bool cursor::next() noexcept {
    if (malformed_)
        return false;
    if (at_ == end_)
        return false;
    const auto raw_kind = *at_;
    kind_ = static_cast<bson::type>(raw_kind);
    const std::size_t name_size = cstring_size(at_ + 1, end_);
    if (name_size == 0)
        return fail();
    name_ = {reinterpret_cast<const char*>(at_ + 1), name_size - 1};
    value_ = at_ + 1 + name_size;
    const auto room = static_cast<std::size_t>(end_ - value_);
    std::size_t size = 0;
    bool fits = true;
    switch (kind_) {
    case type::double_:
    case type::date:
    case type::timestamp:
    case type::int64:
        size = 8;
        break;
    case type::string:
    case type::code:
    case type::symbol:
        size = string_size(value_, room);
        fits = size != 0;
        break;
    case type::document:
    case type::array:
        size = document_size(value_, room);
        fits = size != 0;
        break;
    case type::binary: {
        if (room < 5)
            return fail();
        const std::size_t n = load_u32(value_);
        if (n > room - 5)
            return fail();
        // The old binary subtype carries a second length inside.
        if (value_[4] == 2 && (n < 4 || load_u32(value_ + 5) != n - 4))
            return fail();
        size = 5 + n;
        break;
    }
    case type::undefined:
    case type::null:
    case type::min_key:
    case type::max_key:
        size = 0;
        break;
    case type::oid:
        size = 12;
        break;
    case type::boolean:
        size = 1;
        break;
    case type::regex: {
        const std::size_t pattern = cstring_size(value_, end_);
        const std::size_t options = pattern ? cstring_size(value_ + pattern, end_) : 0;
        size = pattern + options;
        fits = options != 0;
        break;
    }
    case type::db_pointer: {
        const std::size_t ns = string_size(value_, room);
        size = ns + 12;
        fits = ns != 0;
        break;
    }
    case type::code_with_scope: {
        if (room < 14)
            return fail();
        const std::size_t whole = load_u32(value_);
        if (whole < 14 || whole > room)
            return fail();
        const std::size_t code = string_size(value_ + 4, whole - 4);
        if (code == 0 || document_size(value_ + 4 + code, whole - 4 - code) != whole - 4 - code)
            return fail();
        size = whole;
        break;
    }
    case type::int32:
        size = 4;
        break;
    case type::decimal128:
        size = 16;
        break;
    default:
        return fail();
    }
    if (!fits || size > room)
        return fail();
    value_size_ = size;
    at_ = value_ + size;
    return true;
}

cursor::binary_value cursor::as_binary() const noexcept {
    const std::size_t n = load<std::uint32_t>(0);
    const std::uint8_t subtype = value_[4];
    if (subtype == 2)
        return {subtype, {value_ + 9, n - 4}};
    return {subtype, {value_ + 5, n}};
}

cursor::regex_value cursor::as_regex() const noexcept {
    const auto* pattern = reinterpret_cast<const char*>(value_);
    const std::size_t pattern_length = std::strlen(pattern);
    const char* options = pattern + pattern_length + 1;
    return {{pattern, pattern_length}, {options, value_size_ - pattern_length - 2}};
}

cursor::db_pointer_value cursor::as_db_pointer() const noexcept {
    const std::size_t n = load<std::uint32_t>(0);
    return {{reinterpret_cast<const char*>(value_ + 4), n - 1},
            std::span<const std::uint8_t, 12>(value_ + 4 + n, 12)};
}

cursor::code_with_scope_value cursor::as_code_with_scope() const noexcept {
    const std::size_t n = load<std::uint32_t>(4);
    const std::uint8_t* scope = value_ + 8 + n;
    return {{reinterpret_cast<const char*>(value_ + 8), n - 1}, view{scope, load_u32(scope)}};
}

std::optional<std::int64_t> cursor::as_integer() const noexcept {
    switch (kind_) {
    case type::int32:
        return as_int32();
    case type::int64:
        return as_int64();
    case type::double_: {
        const double d = as_double();
        if (d >= -9007199254740992.0 && d <= 9007199254740992.0 &&
            d == static_cast<double>(static_cast<std::int64_t>(d)))
            return static_cast<std::int64_t>(d);
        return std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

bool cursor::truthy() const noexcept {
    if (kind_ == type::boolean)
        return as_bool();
    if (kind_ == type::double_)
        return as_double() != 0.0;
    return as_integer().value_or(0) != 0;
}

std::optional<cursor> find(view doc, std::string_view name) noexcept {
    for (cursor c{doc}; c.next();)
        if (c.name() == name)
            return c;
    return std::nullopt;
}

std::optional<cursor> find_path(view doc, std::string_view path) noexcept {
    for (;;) {
        const auto dot = path.find('.');
        const auto found = find(doc, path.substr(0, dot));
        if (!found || dot == std::string_view::npos)
            return found;
        if (found->kind() != type::document && found->kind() != type::array)
            return std::nullopt;
        doc = found->as_document();
        path.remove_prefix(dot + 1);
    }
}

} // namespace cdc::bson
