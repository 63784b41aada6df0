// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>

namespace cdc::runtime {

/// The one thing a coroutine waits on when somebody else on the same reactor changes what it is
/// interested in: "look again". A condition variable for one reactor and one waiter.
///     while (!condition) co_await slot.wait();
/// Not thread-safe. `notify` resumes the waiter through the reactor (posted), never inline.
class wake_slot {
  public:
    explicit wake_slot(boost::asio::any_io_executor reactor);
    ~wake_slot();
    wake_slot(const wake_slot&) = delete;
    wake_slot& operator=(const wake_slot&) = delete;

    /// Returns after the next `notify`, or at once when one came since the last wait. One waiter.
    boost::asio::awaitable<void> wait();

    /// As `wait`, or when `limit` has passed; tells whether it was notified.
    boost::asio::awaitable<bool> wait_for(std::chrono::steady_clock::duration limit);

    void notify();

  private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace cdc::runtime
