// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cdc::test {

/// Descriptors that this process has open.
std::size_t open_descriptors();

/// Stacks of fibers that are mapped (fiber_stack: a page without access below 256 KiB).
std::size_t fiber_stacks();

} // namespace cdc::test
