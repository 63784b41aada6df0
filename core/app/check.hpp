// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/registry.hpp"
#include "core/config/configuration.hpp"
#include "core/log/logger.hpp"
#include "core/log/redactor.hpp"

#include <iosfwd>
#include <memory>

namespace cdc::app {

/// `mongocdc check`: tries everything that a checked configuration needs and writes one line an
/// item to `out` (see check_report): options, state, and for each connector the items of its source
/// (check_mongodb) and sink.NAME for each sink. Nothing is created, changed or delivered, and no
/// cursor stays open. What waits does so within the connectors' own time limits.
///
/// Gives the process's exit code: 0, or check_failed when an item failed. `known` must be the
/// registry that the configuration was loaded with; `hidden` knows the configuration's secrets.
/// Blocks. A signal just ends the process: there is nothing to put in order.
int check(const config::configuration& configuration, const registry& known, log::logger logger,
          std::shared_ptr<const log::redactor> hidden, std::ostream& out);

} // namespace cdc::app
