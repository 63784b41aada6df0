// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/stall_watch.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace cdc::runtime {

namespace asio = boost::asio;

struct stall_watch::impl {
    impl(const asio::any_io_executor& reactor, clock::duration i, observer r)
        : timer(reactor)
        , interval(i)
        , report(std::move(r)) {}
    asio::steady_timer timer;
    clock::duration interval;
    observer report;
    bool cancelled = false;
};

stall_watch::stall_watch(asio::any_io_executor reactor, clock::duration interval, observer report)
    : impl_(std::make_unique<impl>(std::move(reactor), interval, std::move(report))) {}

stall_watch::~stall_watch() = default;

asio::awaitable<void> stall_watch::run_watch() {
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    while (!impl_->cancelled) {
        const auto due = clock::now() + impl_->interval;
        impl_->timer.expires_at(due);
        auto [ec] = co_await impl_->timer.async_wait(token);
        if (ec || impl_->cancelled)
            break;
        impl_->report(due, clock::now() - due);
    }
}

void stall_watch::cancel() noexcept {
    impl_->cancelled = true;
    impl_->timer.cancel();
}

} // namespace cdc::runtime
