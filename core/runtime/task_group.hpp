// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/logger.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace cdc::runtime {

/// Owns the coroutines that a component spawns on its reactor. Not thread-safe: everything happens
/// on that reactor. Asking the coroutines to end is the component's business (each has a cancel of
/// its own); the group makes sure that nobody forgets to wait for them.
class task_group {
  public:
    task_group(boost::asio::any_io_executor reactor, log::logger logger);
    /// Asserts that nothing runs any more.
    ~task_group();
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    /// Starts `work`. False (and nothing started) once `join` was called. An exception that escapes
    /// is logged with `name`; it is a bug.
    bool spawn(std::string name, boost::asio::awaitable<void> work);

    /// Refuses new work and returns when the last coroutine has ended.
    boost::asio::awaitable<void> join();

    std::size_t running() const noexcept;

  private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace cdc::runtime
