// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/blocking_pool.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>

namespace cdc::runtime {

namespace asio = boost::asio;

struct blocking_pool::impl {
    explicit impl(std::size_t threads)
        : pool(threads) {}
    asio::thread_pool pool;
};

blocking_pool::blocking_pool(std::size_t threads)
    : impl_(std::make_unique<impl>(threads)) {}

blocking_pool::~blocking_pool() {
    impl_->pool.join();
}

asio::awaitable<void> blocking_pool::run_erased(std::function<void()> work) {
    auto home = co_await asio::this_coro::executor;
    std::exception_ptr escaped;
    auto initiate = [this, home, &work, &escaped](auto handler) {
        // The caller's reactor must not run out of work while the call is away.
        auto guard = asio::make_work_guard(home);
        asio::post(impl_->pool, [home, guard = std::move(guard), &work, &escaped,
                                 handler = std::move(handler)]() mutable {
            try {
                work();
            } catch (...) {
                escaped = std::current_exception();
            }
            // The guard goes along: let go of here, it could be after the reactor's end.
            asio::post(home, [guard = std::move(guard), handler = std::move(handler)]() mutable {
                std::move(handler)();
            });
        });
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(initiate,
                                                                          asio::use_awaitable);
    if (escaped)
        std::rethrow_exception(escaped);
}

} // namespace cdc::runtime
