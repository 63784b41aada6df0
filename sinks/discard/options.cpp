// SPDX-License-Identifier: Apache-2.0
#include "sinks/discard/options.hpp"

#include "core/config/option_table.hpp"

namespace cdc::discard {

const config::option_table& option_table() {
    static const config::option_table table(
        "discard", "Sinks of `type: discard`",
        {{.name = "schemas.enable",
          .type = config::option_type::boolean,
          .doc = "Overrides the connector's schemas.enable for this sink"}});
    return table;
}

} // namespace cdc::discard
