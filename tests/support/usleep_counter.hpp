// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cdc::test {

/// How often anything in this process has called usleep(3). The test program defines usleep itself,
/// and the linker makes the shared libraries use it: libmongoc before 1.26 sleeps half a second
/// inside server selection, which would stop a reactor.
std::size_t usleep_calls() noexcept;

} // namespace cdc::test
