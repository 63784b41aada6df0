// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/command.hpp"

namespace cdc::test::standin {

/// A hello's first step of an authentication: appends `speculativeAuthenticate` to the reply, or
/// nothing when it cannot succeed (the client then starts again, and is told why).
void speculative_sasl_start(command_call& call, bson::view start, bson::builder& reply);

} // namespace cdc::test::standin
