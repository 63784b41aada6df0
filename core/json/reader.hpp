// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace cdc::json {

/// One parsed JSON object, for small texts such as stored state; a wrapper around simdjson that
/// reports with our errors. Owns the parsed form; the text itself may go after `parse`. String
/// views live as long as the reader. Not for the event path. Not thread-safe.
class reader {
  public:
    /// Errors: bad_data when `text` is not exactly one valid JSON object in UTF-8.
    static error::result<reader> parse(std::string_view text);

    ~reader();
    reader(reader&&) noexcept;
    reader& operator=(reader&&) noexcept;

    /// Errors: bad_data when there is no such member or it has another type; the text names it.
    error::result<std::string_view> string(std::string_view member) const;
    error::result<std::uint64_t> unsigned_integer(std::string_view member) const;

  private:
    struct impl;
    explicit reader(std::unique_ptr<impl> parsed) noexcept;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::json
