// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/check_report.hpp"
#include "core/app/source_parts.hpp"
#include "core/config/values.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cdc::app {

/// What the state file holds of a connector; nothing of it when positions live in memory.
struct stored_positions {
    /// A sink of the connector and its position, JSON as the source wrote it; nothing: none stored.
    std::vector<std::pair<std::string, std::optional<std::string>>> sinks;
    std::optional<std::string> identity;
    bool of_other_sinks = false; ///< positions of sinks that the connector no longer has
};

struct source_check {
    report_item report;
    /// Nothing: there are none to look at.
    std::optional<stored_positions> stored;
};

/// Finds out whether a source could work, without changing or writing anything, and reports it item
/// by item. Ends by itself, bounded by the source's own time limits.
using check_source =
    std::function<boost::asio::awaitable<void>(config::values, source_environment, source_check)>;

} // namespace cdc::app
