// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cdc::config {
class option_table;
}

namespace cdc::discard {

/// The rows of `type: discard`. Lives as long as the program.
const config::option_table& option_table();

} // namespace cdc::discard
