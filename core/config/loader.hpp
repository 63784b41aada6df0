// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/configuration.hpp"
#include "core/config/option_table.hpp"
#include "core/config/report.hpp"
#include "core/config/substitution.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cdc::config {

/// What may be named in a file: the tables by the name of the source or the sink type. The tables
/// outlive every configuration.
struct known_kinds {
    using named_tables = std::vector<std::pair<std::string, const option_table*>>;
    named_tables sources;
    named_tables sinks;
};

struct loaded {
    std::optional<configuration> result; ///< only when there is no mistake
    report found;                        ///< mistakes and warnings
};

/// The rows of the service itself (`state.path`).
const option_table& service_table();

/// Reads a configuration file. Everything wrong with it is in the report; never throws for what the
/// file holds. Takes time in proportion to the file, which may have 1 MiB; reads no other files but
/// those named by `${file:...}`.
///
///     state: {path: ./mongocdc.db}       # this is the default; "memory" keeps nothing
///     connectors:
///       inventory:                       # names are [A-Za-z0-9_-]+
///         source: mongodb
///         topic.prefix: fulfillment      # dotted and nested keys are the same
///         sinks:
///           out: {type: file, path: out/events.jsonl}
loaded load(const std::filesystem::path& file, const known_kinds& kinds,
            const environment& variables = process_environment());

} // namespace cdc::config
