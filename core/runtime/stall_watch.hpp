// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace cdc::runtime {

/// Measures how late a reactor wakes: something that ran on it too long, or a machine without a
/// free processor. Lives on that reactor.
class stall_watch {
  public:
    using clock = std::chrono::steady_clock;
    /// `due` is when the reactor should have woken, `late` by how much it missed that.
    using observer = std::function<void(clock::time_point due, clock::duration late)>;

    /// Wakes every `interval` and reports each wake-up.
    stall_watch(boost::asio::any_io_executor reactor, clock::duration interval, observer report);
    ~stall_watch();
    stall_watch(const stall_watch&) = delete;
    stall_watch& operator=(const stall_watch&) = delete;

    /// Runs until `cancel`; must have ended before destruction.
    boost::asio::awaitable<void> run_watch();
    void cancel() noexcept;

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::runtime
