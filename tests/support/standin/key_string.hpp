// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace cdc::test::standin {

/// The server's KeyString, version 1: bytes whose order (memcmp) is the BSON comparison order of
/// the values appended, and the type bits that comparison does not see (int or long, string or
/// symbol). It is the `_id` index's key and the body of a resume token.
///
/// Derived from recorded resume tokens. Without a recording, and so only ordered as the server
/// orders, not equal byte by byte: decimals that are no double even after rounding to 15 digits,
/// and those beyond a double's range. Decimals below a double's normal range sort below all doubles
/// of the same sign.
class key_string {
  public:
    /// A top level value; `inverted` for a descending order.
    key_string& append(const bson::cursor& element);
    key_string& append_document(bson::view doc);
    key_string& append_int(std::int32_t v);
    key_string& append_bool(bool v);
    key_string& append_timestamp(bson::timestamp v);
    key_string& append_uuid(std::span<const std::uint8_t, 16> uuid);
    /// Ends the key (needed for tokens only).
    key_string& finish();

    const std::string& bytes() const noexcept { return bytes_; }
    /// As the server stores them: empty when all are zero.
    std::string type_bits() const;

  private:
    void byte(int b) { bytes_.push_back(static_cast<char>(b)); }
    void big_endian(std::uint64_t v, int size, bool invert);
    void string_like(std::string_view text);
    void bit(bool b);
    void bits(unsigned v, int count);

    void append_value(const bson::cursor& c);
    void append_elements(bson::view doc);
    void append_integer(std::int64_t v);
    void append_preshifted(std::uint64_t v, bool negative);
    void append_double(double v, unsigned continuation);
    void append_small_double(double magnitude, bool negative, unsigned continuation);
    void append_decimal(bson::cursor::decimal128_value v);

    std::string bytes_;
    std::string bits_;
    int bit_count_ = 0;
};

/// The server's order of types: equal numbers compare with each other. 0 for kinds it lacks.
int type_bracket(bson::type kind) noexcept;

/// BSON comparison order: below, equal, above zero.
int compare(const bson::cursor& a, const bson::cursor& b);

} // namespace cdc::test::standin
