// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/values.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cdc::config {

struct sink_config {
    std::string name; ///< unique within the connector, [A-Za-z0-9_-]+
    std::string type; ///< a registered sink type
    values options;   ///< of that type's table
};

struct connector_config {
    std::string name;               ///< unique, [A-Za-z0-9_-]+
    std::string source;             ///< a registered source
    values options;                 ///< of that source's table
    std::vector<sink_config> sinks; ///< at least one, in the file's order
};

/// A whole configuration, checked. A plain value.
struct configuration {
    std::filesystem::path file; ///< where it came from, absolute
    /// SQLite file with the positions; nothing: positions are kept in memory only.
    std::optional<std::filesystem::path> state_path;
    std::vector<connector_config> connectors; ///< at least one, in the file's order
    /// Every secret in it, as typed: what the log must hide (log::redactor knows which parts of a
    /// connection string are meant).
    std::vector<std::string> secrets;
};

} // namespace cdc::config
