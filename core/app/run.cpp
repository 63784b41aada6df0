// SPDX-License-Identifier: Apache-2.0
#include "core/app/run.hpp"

#include "core/app/exit_code.hpp"

namespace cdc::app {

int run(const config::configuration& configuration, const registry&, log::logger logger) {
    logger.info("{}: {} connectors", configuration.file.string(), configuration.connectors.size());
    return exit_code::stopped;
}

} // namespace cdc::app
