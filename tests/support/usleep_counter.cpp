// SPDX-License-Identifier: Apache-2.0
#include "tests/support/usleep_counter.hpp"

#include <unistd.h>

#include <atomic>
#include <ctime>

namespace {
std::atomic<std::size_t> calls{0};
}

extern "C" int usleep(useconds_t usec) {
    ++calls;
    timespec left{static_cast<time_t>(usec / 1'000'000),
                  static_cast<long>(usec % 1'000'000) * 1000};
    while (nanosleep(&left, &left) != 0) {
    }
    return 0;
}

namespace cdc::test {

std::size_t usleep_calls() noexcept {
    return calls;
}

} // namespace cdc::test
