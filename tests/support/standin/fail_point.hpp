// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/command_fault.hpp"

#include <cstdint>
#include <string_view>

namespace cdc::test::standin {

/// One member's fail point "failCommand": decides which command the fault meets, and counts. On the
/// set's reactor only.
class fail_point {
  public:
    void set(command_fault fault);
    void end();

    /// The fault when it meets this command now.
    std::optional<command_fault> meet(std::string_view command, std::string_view app_name);

    /// Rises with every `set` and `end`: what a held command waits for.
    std::uint64_t generation() const noexcept { return generation_; }
    /// How many commands the point has met, in all.
    std::int64_t met() const noexcept { return met_; }

  private:
    std::optional<command_fault> fault_;
    std::uint64_t generation_ = 0;
    std::int64_t met_ = 0;
};

} // namespace cdc::test::standin
