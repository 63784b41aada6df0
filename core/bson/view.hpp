// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace cdc::bson {

/// Element types, values as in the BSON specification.
enum class type : std::uint8_t {
    double_ = 0x01,
    string = 0x02,
    document = 0x03,
    array = 0x04,
    binary = 0x05,
    undefined = 0x06,
    oid = 0x07,
    boolean = 0x08,
    date = 0x09,
    null = 0x0a,
    regex = 0x0b,
    db_pointer = 0x0c,
    code = 0x0d,
    symbol = 0x0e,
    code_with_scope = 0x0f,
    int32 = 0x10,
    timestamp = 0x11,
    int64 = 0x12,
    decimal128 = 0x13,
    max_key = 0x7f,
    min_key = 0xff,
};

/// BSON timestamp: seconds and ordinal, both unsigned 32 bit. Ordered by time, then ordinal.
struct timestamp {
    std::uint32_t t = 0;
    std::uint32_t i = 0;
    auto operator<=>(const timestamp&) const = default;
};

/// A borrowed document (or array): the caller keeps the bytes alive. Cheap to copy.
/// Construction checks the frame only (length, terminator); elements are checked as they are read.
class view {
  public:
    /// The empty document.
    view() noexcept
        : data_(empty_bytes.data()) {}

    /// Errors: bad_data when `bytes` is not exactly one framed document.
    static error::result<view> from(std::span<const std::uint8_t> bytes);

    const std::uint8_t* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    std::span<const std::uint8_t> bytes() const noexcept { return {data_, size_}; }
    bool empty() const noexcept { return size_ == 5; }

  private:
    friend class cursor;
    view(const std::uint8_t* data, std::uint32_t size) noexcept
        : data_(data)
        , size_(size) {}

    static constexpr std::array<std::uint8_t, 5> empty_bytes{5, 0, 0, 0, 0};
    const std::uint8_t* data_;
    std::uint32_t size_ = 5;
};

/// Walks the elements of one document without allocating. Usage:
///     for (cursor c{doc}; c.next();) use(c.name(), c.kind());
/// `next()` checks that the element lies inside the document; it returns false at the end and at
/// the first malformed element, `malformed()` tells which. Strings are not checked for UTF-8 here.
/// An accessor may only be called for its own `kind()`.
class cursor {
  public:
    explicit cursor(view doc) noexcept
        : at_(doc.data_ + 4)
        , end_(doc.data_ + doc.size_ - 1) {}

    bool next() noexcept;
    bool malformed() const noexcept { return malformed_; }

    bson::type kind() const noexcept { return kind_; }
    std::string_view name() const noexcept { return name_; }

    double as_double() const noexcept { return load<double>(0); }
    std::int32_t as_int32() const noexcept { return load<std::int32_t>(0); }
    std::int64_t as_int64() const noexcept { return load<std::int64_t>(0); }
    bool as_bool() const noexcept { return *value_ != 0; }
    std::int64_t as_date_ms() const noexcept { return load<std::int64_t>(0); }
    bson::timestamp as_timestamp() const noexcept {
        return {load<std::uint32_t>(4), load<std::uint32_t>(0)};
    }
    /// string, code and symbol; without the terminating NUL, embedded NULs kept.
    std::string_view as_string() const noexcept {
        return {reinterpret_cast<const char*>(value_ + 4), load<std::uint32_t>(0) - 1U};
    }
    /// document and array.
    view as_document() const noexcept { return {value_, load<std::uint32_t>(0)}; }
    std::span<const std::uint8_t, 12> as_oid() const noexcept {
        return std::span<const std::uint8_t, 12>(value_, 12);
    }
    struct binary_value {
        std::uint8_t subtype;
        std::span<const std::uint8_t> bytes; ///< subtype 2: without its inner length
    };
    binary_value as_binary() const noexcept;
    struct regex_value {
        std::string_view pattern;
        std::string_view options;
    };
    regex_value as_regex() const noexcept;
    struct db_pointer_value {
        std::string_view ns;
        std::span<const std::uint8_t, 12> id;
    };
    db_pointer_value as_db_pointer() const noexcept;
    struct code_with_scope_value {
        std::string_view code;
        view scope;
    };
    code_with_scope_value as_code_with_scope() const noexcept;
    struct decimal128_value {
        std::uint64_t low;
        std::uint64_t high;
    };
    decimal128_value as_decimal128() const noexcept {
        return {load<std::uint64_t>(0), load<std::uint64_t>(8)};
    }

    /// The value's raw bytes as they stand in the document (without type and name).
    std::span<const std::uint8_t> raw_value() const noexcept { return {value_, value_size_}; }
    /// int32, int64 or a double without a fraction as an integer; nothing for other kinds.
    std::optional<std::int64_t> as_integer() const noexcept;
    /// bool or any number, as the server reads flags such as `ok`.
    bool truthy() const noexcept;

  private:
    template <class T>
    T load(std::size_t offset) const noexcept {
        T out;
        std::memcpy(&out, value_ + offset, sizeof out);
        return out;
    }
    bool fail() noexcept {
        malformed_ = true;
        return false;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_; ///< the document's terminator
    const std::uint8_t* value_ = nullptr;
    std::size_t value_size_ = 0;
    std::string_view name_;
    bson::type kind_ = bson::type::null;
    bool malformed_ = false;
};

/// The first element called `name`, or nothing. Linear; for the few fields of a reply.
std::optional<cursor> find(view doc, std::string_view name) noexcept;

/// A value by dotted path through documents ("cursor.nextBatch"), or nothing.
std::optional<cursor> find_path(view doc, std::string_view path) noexcept;

} // namespace cdc::bson
