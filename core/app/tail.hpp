// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/command_line.hpp"
#include "core/app/registry.hpp"
#include "core/config/values.hpp"
#include "core/log/logger.hpp"

#include <iosfwd>
#include <optional>

namespace cdc::app {

/// The topic.prefix of what `tail` prints: `source.name` of its events.
inline constexpr const char* tail_prefix = "tail";

/// The options of the source that a `tail` command line stands for, checked as if they stood in a
/// file. Nothing when one is wrong; every mistake is then written to `err`, one line each.
std::optional<config::values> tail_options(const tail_command& command,
                                           const config::option_table& table, std::ostream& err);

/// `mongocdc tail`: the connector that `run` would make of `options`, with one sink that prints
/// the events and positions that are forgotten. Blocks until SIGINT or SIGTERM, the limit, the
/// reader of standard output gone, or a terminal failure, which the log tells. Gives the process's
/// exit code: 0, all_failed for a failure, configuration when that is about the options.
int tail(const tail_command& command, const config::values& options, const registry& known,
         log::logger logger);

} // namespace cdc::app
