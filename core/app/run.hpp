// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/registry.hpp"
#include "core/config/configuration.hpp"
#include "core/log/logger.hpp"

namespace cdc::app {

/// Runs the connectors of a checked configuration until a signal or until all have failed; blocks.
/// Gives the process's exit code (exit_code.hpp). `known` must be the registry that the
/// configuration was loaded with.
int run(const config::configuration& configuration, const registry& known, log::logger logger);

} // namespace cdc::app
