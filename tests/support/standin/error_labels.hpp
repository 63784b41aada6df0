// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/command.hpp"

#include <string>
#include <vector>

namespace cdc::test::standin {

/// The labels that the server gives a failed command: whether a change stream or a retryable write
/// may be tried again.
std::vector<std::string> error_labels(const command_call& call, int code);

/// Whether an error with this code tells the topology version, as "not primary" does.
bool tells_topology_version(int code);

} // namespace cdc::test::standin
