// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/key_string.hpp"

#include <cmath>
#include <cstring>

namespace cdc::test::standin {

namespace {

// First bytes of values, from recorded tokens; the gaps are the server's.
constexpr int min_key = 10;
constexpr int undefined = 15;
constexpr int nullish = 20;
constexpr int numeric = 30;
constexpr int string = 60;
constexpr int object = 70;
constexpr int array = 80;
constexpr int bin_data = 90;
constexpr int oid = 100;
constexpr int bool_false = 110;
constexpr int date = 120;
constexpr int timestamp = 130;
constexpr int regex = 140;
constexpr int db_ref = 150;
constexpr int code = 160;
constexpr int code_with_scope = 170;
constexpr int max_key = 240;

constexpr int key_end = 4;

constexpr unsigned bits_int = 0;
constexpr unsigned bits_long = 1;
constexpr unsigned bits_double = 2;
constexpr unsigned bits_negative_double_zero = 0x18; // five bits

} // namespace

int type_bracket(bson::type kind) noexcept {
    switch (kind) {
    case bson::type::min_key:
        return min_key;
    case bson::type::undefined:
        return undefined;
    case bson::type::null:
        return nullish;
    case bson::type::double_:
    case bson::type::int32:
    case bson::type::int64:
    case bson::type::decimal128:
        return numeric;
    case bson::type::string:
    case bson::type::symbol:
        return string;
    case bson::type::document:
        return object;
    case bson::type::array:
        return array;
    case bson::type::binary:
        return bin_data;
    case bson::type::oid:
        return oid;
    case bson::type::boolean:
        return bool_false;
    case bson::type::date:
        return date;
    case bson::type::timestamp:
        return timestamp;
    case bson::type::regex:
        return regex;
    case bson::type::db_pointer:
        return db_ref;
    case bson::type::code:
        return code;
    case bson::type::code_with_scope:
        return code_with_scope;
    case bson::type::max_key:
        return max_key;
    }
    return 0;
}

void key_string::big_endian(std::uint64_t v, int size, bool invert) {
    for (int i = size - 1; i >= 0; --i) {
        const auto b = static_cast<std::uint8_t>(v >> (8 * i));
        byte(invert ? static_cast<std::uint8_t>(~b) : b);
    }
}

void key_string::string_like(std::string_view text) {
    for (const char c : text) {
        bytes_.push_back(c);
        if (c == '\0')
            byte(0xff);
    }
    byte(0);
}

void key_string::bit(bool b) {
    if (bit_count_ % 8 == 0)
        bits_.push_back('\0');
    if (b)
        bits_.back() = static_cast<char>(static_cast<std::uint8_t>(bits_.back()) |
                                         (1U << static_cast<unsigned>(bit_count_ % 8)));
    ++bit_count_;
}

void key_string::bits(unsigned v, int count) {
    for (int i = count - 1; i >= 0; --i)
        bit(((v >> static_cast<unsigned>(i)) & 1U) != 0);
}

std::string key_string::type_bits() const {
    if (bits_.find_first_not_of('\0') == std::string::npos)
        return {};
    if (bits_.size() == 1 && static_cast<std::uint8_t>(bits_[0]) < 0x80)
        return bits_;
    std::string out;
    if (bits_.size() < 0x80) {
        out.push_back(static_cast<char>(0x80U | bits_.size()));
    } else {
        // Longer than the recordings show: the size as four bytes behind 0x80.
        const auto size = static_cast<std::uint32_t>(bits_.size());
        out.push_back(static_cast<char>(0x80));
        out.append(reinterpret_cast<const char*>(&size), sizeof size);
    }
    return out + bits_;
}

key_string& key_string::append(const bson::cursor& element) {
    append_value(element);
    return *this;
}

key_string& key_string::append_document(bson::view doc) {
    byte(object);
    append_elements(doc);
    return *this;
}

key_string& key_string::append_int(std::int32_t v) {
    bits(bits_int, 2);
    append_integer(v);
    return *this;
}

key_string& key_string::append_bool(bool v) {
    byte(bool_false + (v ? 1 : 0));
    return *this;
}

key_string& key_string::append_timestamp(bson::timestamp v) {
    byte(timestamp);
    big_endian((std::uint64_t{v.t} << 32U) | v.i, 8, false);
    return *this;
}

key_string& key_string::append_uuid(std::span<const std::uint8_t, 16> uuid) {
    byte(bin_data);
    byte(16);
    byte(4);
    bytes_.append(reinterpret_cast<const char*>(uuid.data()), uuid.size());
    return *this;
}

key_string& key_string::finish() {
    byte(key_end);
    return *this;
}

void key_string::append_elements(bson::view doc) {
    for (bson::cursor c{doc}; c.next();) {
        byte(type_bracket(c.kind()));
        bytes_.append(c.name());
        byte(0);
        append_value(c);
    }
    byte(0);
}

void key_string::append_value(const bson::cursor& c) {
    switch (c.kind()) {
    case bson::type::int32:
        append_int(c.as_int32());
        return;
    case bson::type::int64:
        bits(bits_long, 2);
        append_integer(c.as_int64());
        return;
    case bson::type::double_:
        if (c.as_double() == 0 && std::signbit(c.as_double()))
            bits(bits_negative_double_zero, 5);
        else
            bits(bits_double, 2);
        append_double(c.as_double(), 0);
        return;
    case bson::type::decimal128:
        append_decimal(c.as_decimal128());
        return;
    case bson::type::boolean:
        append_bool(c.as_bool());
        return;
    case bson::type::timestamp:
        append_timestamp(c.as_timestamp());
        return;
    default:
        break;
    }
    byte(type_bracket(c.kind()));
    switch (c.kind()) {
    case bson::type::string:
    case bson::type::symbol:
        bit(c.kind() == bson::type::symbol);
        string_like(c.as_string());
        break;
    case bson::type::code:
        string_like(c.as_string());
        break;
    case bson::type::code_with_scope:
        string_like(c.as_code_with_scope().code);
        append_elements(c.as_code_with_scope().scope);
        break;
    case bson::type::document:
        append_elements(c.as_document());
        break;
    case bson::type::array:
        for (bson::cursor e{c.as_document()}; e.next();)
            append_value(e);
        byte(0);
        break;
    case bson::type::binary: {
        const auto v = c.as_binary();
        if (v.bytes.size() < 0xff) {
            big_endian(v.bytes.size(), 1, false);
        } else {
            byte(0xff);
            big_endian(v.bytes.size(), 4, false);
        }
        byte(v.subtype);
        bytes_.append(reinterpret_cast<const char*>(v.bytes.data()), v.bytes.size());
        break;
    }
    case bson::type::oid:
        bytes_.append(reinterpret_cast<const char*>(c.as_oid().data()), 12);
        break;
    case bson::type::date:
        big_endian(static_cast<std::uint64_t>(c.as_date_ms()) ^ (std::uint64_t{1} << 63U), 8,
                   false);
        break;
    case bson::type::regex:
        bytes_.append(c.as_regex().pattern);
        byte(0);
        bytes_.append(c.as_regex().options);
        byte(0);
        break;
    case bson::type::db_pointer: {
        const auto v = c.as_db_pointer();
        big_endian(v.ns.size(), 4, false);
        bytes_.append(v.ns);
        bytes_.append(reinterpret_cast<const char*>(v.id.data()), v.id.size());
        break;
    }
    default: // MinKey, MaxKey, null, undefined: the first byte says it all
        break;
    }
}

int compare(const bson::cursor& a, const bson::cursor& b) {
    const int brackets = type_bracket(a.kind()) - type_bracket(b.kind());
    if (brackets != 0)
        return brackets;
    if (a.kind() == b.kind()) {
        switch (a.kind()) {
        case bson::type::int32:
            return (a.as_int32() > b.as_int32()) - (a.as_int32() < b.as_int32());
        case bson::type::int64:
            return (a.as_int64() > b.as_int64()) - (a.as_int64() < b.as_int64());
        case bson::type::string:
            return a.as_string().compare(b.as_string());
        case bson::type::oid:
            return std::memcmp(a.as_oid().data(), b.as_oid().data(), 12);
        default:
            break;
        }
    }
    key_string left;
    key_string right;
    left.append(a);
    right.append(b);
    return left.bytes().compare(right.bytes());
}

} // namespace cdc::test::standin
