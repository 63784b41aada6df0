// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/task_group.hpp"

#include "core/runtime/wake_slot.hpp"

#include <boost/asio/co_spawn.hpp>

#include <cassert>
#include <exception>

namespace cdc::runtime {

namespace asio = boost::asio;

struct task_group::state {
    state(asio::any_io_executor r, log::logger l)
        : reactor(r)
        , logger(std::move(l))
        , idle(std::move(r)) {}
    asio::any_io_executor reactor;
    log::logger logger;
    wake_slot idle;
    std::size_t running = 0;
    bool closed = false;
};

task_group::task_group(asio::any_io_executor reactor, log::logger logger)
    : state_(std::make_shared<state>(std::move(reactor), std::move(logger))) {}

task_group::~task_group() {
    assert(state_->running == 0);
}

bool task_group::spawn(std::string name, asio::awaitable<void> work) {
    if (state_->closed)
        return false;
    ++state_->running;
    asio::co_spawn(state_->reactor, std::move(work),
                   [s = state_, name = std::move(name)](std::exception_ptr escaped) {
                       --s->running;
                       if (escaped) {
                           try {
                               std::rethrow_exception(escaped);
                           } catch (const std::exception& e) {
                               s->logger.error("{} ended with an exception: {}", name, e.what());
                           } catch (...) {
                               s->logger.error("{} ended with an unknown exception", name);
                           }
                       }
                       if (s->running == 0)
                           s->idle.notify();
                   });
    return true;
}

asio::awaitable<void> task_group::join() {
    auto s = state_;
    s->closed = true;
    while (s->running > 0)
        co_await s->idle.wait();
}

std::size_t task_group::running() const noexcept {
    return state_->running;
}

} // namespace cdc::runtime
