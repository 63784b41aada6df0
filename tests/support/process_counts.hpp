// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cdc::test {

/// Descriptors that this process has open.
std::size_t open_descriptors();

} // namespace cdc::test
