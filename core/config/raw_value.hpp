// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cdc::config {

/// What stands at one key of the file, before its option's row gives it a type.
struct raw_value {
    enum class kind_t {
        null,   ///< nothing, `~` or `null`
        scalar, ///< `text`
        list,   ///< `items`
        map,    ///< an empty mapping; others were taken apart into their keys
        broken, ///< already reported as a mistake
    };
    kind_t kind = kind_t::null;
    std::string text; ///< after substitution
    std::vector<std::string> items;
    /// The text as it stands in the file (items joined by commas): what messages may show of
    /// options that are not secret.
    std::string written;
    /// Text came from the environment or a file, so it is not shown whatever the option.
    bool substituted = false;
    std::size_t line = 0; ///< from 1
};

/// Keys (dotted) and what stands there, in the file's order, every key once.
using raw_values = std::vector<std::pair<std::string, raw_value>>;

} // namespace cdc::config
