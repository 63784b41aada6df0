// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/option_table.hpp"

#include <string>
#include <vector>

namespace cdc::config {

enum class reference_format { plain, markdown };

/// The option reference of the tables, in their order: all supported options with everything their
/// rows say, then the names of known keys that do not work (yet). Ends with a line break.
std::string print_reference(const std::vector<const option_table*>& tables,
                            reference_format format);

} // namespace cdc::config
