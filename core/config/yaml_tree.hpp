// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cdc::config {

/// A parsed YAML node. Immutable once built; aliases share it.
struct yaml_node {
    enum class kind_t { null, scalar, sequence, mapping };
    kind_t kind = kind_t::null;
    std::string text; ///< of a scalar, as written (quotes and escapes resolved)
    /// Of a sequence: the items. Of a mapping: key, value, key, value, ...
    std::vector<std::shared_ptr<const yaml_node>> children;
    std::size_t line = 0;   ///< from 1
    std::size_t height = 1; ///< levels, itself included
};

/// Why a text is no YAML that can be used; safe to show.
struct yaml_error : std::runtime_error {
    yaml_error(std::size_t at, const std::string& what)
        : std::runtime_error(what)
        , line(at) {}
    std::size_t line;
};

/// The one document of `text`; a null node when there is nothing in it. Throws yaml_error: syntax,
/// more than 64 levels, unknown aliases, a second document.
std::shared_ptr<const yaml_node> parse_yaml(const std::string& text);

} // namespace cdc::config
