// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cdc::bench {

/// Makes documents such as a shop would store, the same ones on every run and machine: nested
/// documents and arrays, short field names, object ids, dates, int32, int64, double, decimal128,
/// booleans, nulls, some binary, and strings of which some hold quotes, line breaks, accents,
/// other scripts and, rarely, an emoji. Not thread-safe.
class generator {
  public:
    explicit generator(std::uint64_t seed);

    /// An order whose size in bytes is close to `size` (on average; 250 or more). It has a few
    /// fixed fields and as many items and as much text as fit.
    bson::document order(std::size_t size);

    /// The change document of `order`'s insert, with the fields of a server 4.4 and a resume token
    /// of usual length.
    bson::document insert_event(bson::view order, std::string_view db, std::string_view collection);

  private:
    std::uint64_t next() noexcept;
    std::uint32_t below(std::uint32_t limit) noexcept;

    struct writing;

    std::uint64_t state_;
    std::uint32_t number_ = 0;
};

} // namespace cdc::bench
