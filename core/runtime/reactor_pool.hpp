// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/reactor.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace cdc::runtime {

/// A fixed number of reactors and the rule which task goes where: round robin.
class reactor_pool {
  public:
    /// `count` >= 1.
    explicit reactor_pool(std::size_t count);
    /// The reactor for the next task.
    reactor& place() noexcept;
    const std::vector<std::unique_ptr<reactor>>& reactors() const noexcept { return reactors_; }

  private:
    std::vector<std::unique_ptr<reactor>> reactors_;
    std::size_t next_ = 0;
};

} // namespace cdc::runtime
