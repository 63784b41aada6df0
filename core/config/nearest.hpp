// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace cdc::config {

/// The candidate that `given` was probably meant to be, empty when none is near. Case and the
/// choice of `.`, `_` or `-` count nothing; otherwise edit distance (with swaps of neighbours), at
/// most a third of the longer one's length.
std::string_view nearest(std::string_view given, const std::vector<std::string_view>& candidates);

} // namespace cdc::config
