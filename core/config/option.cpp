// SPDX-License-Identifier: Apache-2.0
#include "core/config/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cdc::config {

namespace {

std::string range_text(const option& row) {
    if (row.min && row.max)
        return fmt::format(", {} to {}", *row.min, *row.max);
    if (row.min)
        return fmt::format(", {} or more", *row.min);
    if (row.max)
        return fmt::format(", at most {}", *row.max);
    return {};
}

} // namespace

std::string allowed_values(const option& row) {
    if (!row.allowed_text.empty())
        return std::string(row.allowed_text);
    if (!row.allowed.empty())
        return fmt::format("{}", fmt::join(row.allowed, ", "));
    switch (row.type) {
    case option_type::string:
    case option_type::enumeration:
        return "a text";
    case option_type::secret:
        return "a text (never shown)";
    case option_type::boolean:
        return "true, false";
    case option_type::integer:
        return "an integer" + range_text(row);
    case option_type::duration_ms:
        return "an integer (milliseconds)" + range_text(row);
    case option_type::bytes:
        return "a number of bytes, or a number with KiB, MiB or GiB" + range_text(row);
    case option_type::list:
        return "a list: comma text or a sequence";
    case option_type::path:
        return "a path";
    }
    return {};
}

std::string_view unit_of(const option& row) noexcept {
    if (row.type == option_type::duration_ms)
        return "ms";
    if (row.type == option_type::bytes)
        return "bytes";
    return row.unit;
}

std::string_view type_name(option_type type) noexcept {
    switch (type) {
    case option_type::string:
        return "string";
    case option_type::boolean:
        return "boolean";
    case option_type::integer:
        return "integer";
    case option_type::duration_ms:
        return "duration";
    case option_type::bytes:
        return "bytes";
    case option_type::enumeration:
        return "enumeration";
    case option_type::list:
        return "list";
    case option_type::secret:
        return "secret";
    case option_type::path:
        return "path";
    }
    return {};
}

} // namespace cdc::config
