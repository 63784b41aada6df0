// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/wake_slot.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cassert>

namespace cdc::runtime {

namespace asio = boost::asio;

struct wake_slot::state {
    explicit state(const asio::any_io_executor& reactor)
        : timer(reactor) {}
    asio::steady_timer timer;
    bool signalled = false;
    bool waiting = false;
};

wake_slot::wake_slot(asio::any_io_executor reactor)
    : state_(std::make_shared<state>(std::move(reactor))) {}

wake_slot::~wake_slot() {
    state_->timer.cancel();
}

asio::awaitable<void> wake_slot::wait() {
    co_await wait_for(std::chrono::steady_clock::duration::max());
}

asio::awaitable<bool> wake_slot::wait_for(std::chrono::steady_clock::duration limit) {
    auto s = state_; // the slot may go while its waiter is being resumed
    assert(!s->waiting);
    if (!s->signalled && limit > std::chrono::steady_clock::duration::zero()) {
        if (limit == std::chrono::steady_clock::duration::max())
            s->timer.expires_at(asio::steady_timer::time_point::max());
        else
            s->timer.expires_after(limit);
        s->waiting = true;
        constexpr auto token = asio::as_tuple(asio::use_awaitable);
        co_await s->timer.async_wait(token);
        s->waiting = false;
    }
    co_return std::exchange(s->signalled, false);
}

void wake_slot::notify() {
    state_->signalled = true;
    if (state_->waiting)
        state_->timer.cancel();
}

} // namespace cdc::runtime
