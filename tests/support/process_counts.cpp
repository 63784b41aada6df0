// SPDX-License-Identifier: Apache-2.0
#include "tests/support/process_counts.hpp"

#include "sources/mongodb/client/fiber_runner.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace cdc::test {

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1; // but the iterator's
}

std::size_t fiber_stacks() {
    std::ifstream maps("/proc/self/maps");
    std::size_t count = 0;
    std::uint64_t guard_end = 0;
    for (std::string line; std::getline(maps, line);) {
        std::istringstream in(line);
        std::uint64_t from = 0, to = 0;
        char dash = 0;
        std::string access;
        in >> std::hex >> from >> dash >> to >> access;
        if (access == "rw-p" && from == guard_end &&
            to - from == mongodb::client::fiber_runner::default_stack_size)
            ++count;
        guard_end = access == "---p" ? to : 0;
    }
    return count;
}

} // namespace cdc::test
