// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/option.hpp"
#include "core/config/raw_value.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace cdc::config {

/// Texts (also paths and secrets), booleans, numbers (also durations and sizes), lists. Monostate:
/// there is no value.
using parsed_value =
    std::variant<std::monostate, std::string, bool, std::int64_t, std::vector<std::string>>;

/// Why a value was refused: `problem` follows the value in a message; `allowed` in words.
struct refusal {
    std::string problem;
    std::string allowed;
};

/// Reads a value by its row: type, range, allowed values and the row's own check. Relative paths
/// count from `folder`.
std::variant<parsed_value, refusal> parse_value(const option& row, const raw_value& raw,
                                                const std::filesystem::path& folder);

/// The items of comma text: split at commas, `\,` being a comma within an item; trimmed; empty
/// ones dropped.
std::vector<std::string> split_list(const std::string& text);

} // namespace cdc::config
