// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/connector.hpp"
#include "core/app/registry.hpp"
#include "core/config/configuration.hpp"
#include "core/error/result.hpp"
#include "core/log/logger.hpp"
#include "core/offset/store.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace cdc::app {

/// Owns everything that a running configuration needs: the driver, reactors, the blocking pool, the
/// offset store and the connectors. Start order is the order of the members, stop order its
/// reverse. All calls come from one thread, the service's; they may block for moments, `stop` for
/// as long as shutdown.timeout.ms.
class service {
  public:
    /// Opens the store and makes the connectors; starts nothing. `known` must outlive the service.
    /// `changed` is called from reactor threads when a connector's state has changed.
    /// Errors: configuration; state_locked, state_invalid, io of the store.
    static error::result<std::unique_ptr<service>> make(const config::configuration& configuration,
                                                        const registry& known, log::logger logger,
                                                        std::function<void()> changed);
    /// Stops, if that has not been done.
    ~service();
    service(const service&) = delete;
    service& operator=(const service&) = delete;

    void start();
    /// Delivers what is in flight, stores positions; all connectors at the same time. False when
    /// one failed in doing so: then the next run repeats records.
    bool stop();

    /// Logs why connectors failed: those that failed since the last call, or all that have.
    void log_failures(bool all);
    /// Logs what keeps connectors from their work at present.
    void log_troubles();
    /// True when no connector is left that could do anything.
    bool all_failed() const noexcept;

  private:
    struct parts;
    explicit service(std::unique_ptr<parts> p);
    std::unique_ptr<parts> parts_;
};

} // namespace cdc::app
