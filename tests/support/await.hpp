// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/reactor.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

namespace cdc::test {

/// Runs a coroutine on a reactor and blocks the test's thread for its result; throws what it
/// throws, and std::runtime_error when it takes longer than `limit` (a hang is a failure, not a
/// wait).
template <class T>
T await_on(runtime::reactor& reactor, boost::asio::awaitable<T> work,
           std::chrono::seconds limit = std::chrono::seconds(60)) {
    auto future =
        boost::asio::co_spawn(reactor.executor(), std::move(work), boost::asio::use_future);
    if (future.wait_for(limit) != std::future_status::ready)
        throw std::runtime_error("the coroutine did not end in time");
    return future.get();
}

/// Waits until `condition` holds; false after `limit`. Spins politely.
template <class F>
bool eventually(F condition, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until)
            return false;
        std::this_thread::yield();
    }
    return true;
}

/// Lets time pass where the contract under test asks for it (a back-off), without holding a
/// reactor.
inline boost::asio::awaitable<void> pause_for(std::chrono::milliseconds time) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

} // namespace cdc::test
