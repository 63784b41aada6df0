// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/logger.hpp"
#include "core/runtime/reactor_pool.hpp"

#include <memory>
#include <vector>

namespace cdc::app {

/// Warns when a reactor wakes late: then something held its thread, or the machine is too busy, and
/// every connector on it was slow. At most one line a minute and reactor.
class reactor_watch {
  public:
    /// `reactors` outlive it.
    reactor_watch(runtime::reactor_pool& reactors, log::logger logger);
    ~reactor_watch();

    /// Ends the measurement; the destructor does it too. While the reactors still run.
    void stop();

  private:
    struct probe;
    std::vector<std::unique_ptr<probe>> probes_;
};

} // namespace cdc::app
