// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/pipeline/status.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace cdc::app {

/// What keeps a connector that has not failed from its work at this moment, one line each, for the
/// log: a source that reconnects, sinks that try again. Empty when all is well. Holds no secret.
std::vector<std::string> troubles_of(const pipeline::pipeline_status& status,
                                     std::chrono::system_clock::time_point now);

} // namespace cdc::app
