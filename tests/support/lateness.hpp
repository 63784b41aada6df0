// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/reactor.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cdc::test {

/// Watches reactors during a test beside an idle control thread of the same process. The machine
/// may be busy: only what a reactor is late *beyond* the control thread around the same time
/// counts.
class lateness {
  public:
    /// `watched` outlive this object.
    explicit lateness(std::vector<runtime::reactor*> watched);
    ~lateness();

    /// Ends the measurement and prints one line. Returns how often a reactor was more than 50 ms
    /// later than the control thread; a test fails at three. Sanitizer builds only report: always
    /// 0.
    std::size_t stop(const std::string& what);

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::test
