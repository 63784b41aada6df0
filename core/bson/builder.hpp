// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace cdc::bson {

/// Builds commands and small documents; a thin owner of libbson's growing buffer. Fields keep the
/// order of the calls. Every call returns *this, so calls chain. Not for the event path, which
/// never builds documents.
class builder {
  public:
    builder();
    ~builder();
    builder(builder&&) noexcept;
    builder& operator=(builder&&) noexcept;

    builder& int32(std::string_view name, std::int32_t value);
    builder& int64(std::string_view name, std::int64_t value);
    builder& float64(std::string_view name, double value);
    builder& boolean(std::string_view name, bool value);
    builder& string(std::string_view name, std::string_view value);
    builder& null(std::string_view name);
    builder& date_ms(std::string_view name, std::int64_t value);
    builder& timestamp(std::string_view name, bson::timestamp value);
    builder& binary(std::string_view name, std::uint8_t subtype,
                    std::span<const std::uint8_t> value);
    builder& oid(std::string_view name, std::span<const std::uint8_t, 12> value);
    builder& regex(std::string_view name, std::string_view pattern, std::string_view options);
    builder& document(std::string_view name, bson::view value);
    builder& array(std::string_view name, bson::view value);
    /// Copies an element, whatever its type, under `name`.
    builder& value(std::string_view name, const cursor& element);
    /// Copies every element of `doc`.
    builder& append_all(bson::view doc);

    /// Number of elements appended so far; `std::to_string` of it is the next name of an array.
    std::uint32_t count() const noexcept;

    /// The finished document; the builder is empty afterwards.
    bson::document finish();

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::bson
