// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cdc::bson {

/// Writes a document behind the end of a byte buffer that it borrows, element by element, mostly
/// copies of elements of other documents. For the event path: it allocates only when the buffer has
/// to grow. Documents and arrays are opened and closed in pairs; the caller keeps them nested.
class appender {
  public:
    /// Where an open document began.
    using mark = std::size_t;

    explicit appender(std::vector<std::uint8_t>& out) noexcept
        : out_(out) {}

    /// A document of its own.
    mark open();
    /// One inside the present document. `kind`: document or array.
    mark open(type kind, std::string_view name);
    void close(mark opened);

    /// The element with its value as it is, under `name`.
    void copy(const cursor& element, std::string_view name);
    void string(std::string_view name, std::string_view value);

  private:
    void head(type kind, std::string_view name);
    void number(std::uint32_t value);
    void put(std::span<const std::uint8_t> bytes);

    std::vector<std::uint8_t>& out_;
};

} // namespace cdc::bson
