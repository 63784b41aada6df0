// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/mistake.hpp"

#include <vector>

namespace cdc::config {

/// Collects what is wrong, so that all of it can be said at once.
class report {
  public:
    void add(mistake m);
    void warn(mistake m);

    const std::vector<mistake>& mistakes() const noexcept { return mistakes_; }
    const std::vector<mistake>& warnings() const noexcept { return warnings_; }

    /// Puts everything into the file's order; what has no line comes last.
    void sort();

    /// Enough was collected: further mistakes are only counted, and need not look for near names.
    bool full() const noexcept { return mistakes_.size() >= most; }

    /// Mistakes that were counted but not kept.
    std::size_t more() const noexcept { return more_; }

  private:
    static constexpr std::size_t most = 200;
    std::vector<mistake> mistakes_;
    std::vector<mistake> warnings_;
    std::size_t more_ = 0;
};

} // namespace cdc::config
