// SPDX-License-Identifier: Apache-2.0
#include "tests/support/process_counts.hpp"

#include <filesystem>
#include <iterator>

namespace cdc::test {

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1; // but the iterator's
}

} // namespace cdc::test
