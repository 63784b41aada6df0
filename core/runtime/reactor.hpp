// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

namespace cdc::runtime {

/// One io_context run by exactly one thread from construction to destruction. What is placed on a
/// reactor never leaves it, so nothing on it needs a lock. Everything placed on it must have been
/// stopped before destruction (live fibers must never be unwound by force).
class reactor {
  public:
    /// `name` is the thread's name (15 characters are kept).
    explicit reactor(std::string name);
    /// Returns after the thread ended; pending handlers of unstopped things are dropped.
    ~reactor();
    reactor(const reactor&) = delete;
    reactor& operator=(const reactor&) = delete;

    boost::asio::any_io_executor executor() const noexcept;
    bool running_in_this_thread() const noexcept;

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::runtime
