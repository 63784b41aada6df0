// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/logger.hpp"

namespace cdc::mongodb::client {

/// libmongoc's process-wide state: initialised on construction, its log lines go to `logger`, and
/// the loaded library's version is checked against the one compiled for (throws
/// std::runtime_error). Exactly one must live around all clients; main makes it.
class driver {
  public:
    explicit driver(log::logger logger);
    ~driver();
    driver(const driver&) = delete;
    driver& operator=(const driver&) = delete;

    /// "1.23.1"
    static const char* version() noexcept;

  private:
    log::logger logger_;
};

} // namespace cdc::mongodb::client
