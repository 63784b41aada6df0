// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/fiber_runner.hpp"

#include "sources/mongodb/client/fiber_stack.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/stack_context.hpp>

#include <cassert>
#include <optional>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace cdc::mongodb::client {

namespace asio = boost::asio;
namespace ctx = boost::context;

namespace {

/// The stack belongs to fiber_stack; Boost.Context has nothing to free.
struct borrowed_stack {
    ctx::stack_context allocate() { return {}; }
    void deallocate(ctx::stack_context&) noexcept {}
};

} // namespace

struct fiber_runner::state : std::enable_shared_from_this<state> {
    state(asio::any_io_executor r, std::size_t stack_size)
        : reactor(std::move(r))
        , timer(reactor)
        , stack(stack_size) {}

    asio::any_io_executor reactor;
    asio::steady_timer timer;
    std::optional<clock::time_point> timer_at;
    fiber_stack stack;
    ctx::fiber fiber;  // the fiber while it is suspended
    ctx::fiber caller; // the reactor's stack while the fiber runs
    std::function<void()> work;
    std::function<void()> done; // resumes the coroutine in run()
    bool running = false;       // the processor is on the fiber's stack
    bool suspended = false;     // the fiber waits for notify
    bool signalled = false;
    bool quit = false;
    std::size_t suspensions = 0;
    std::function<void(std::size_t)> hook;

#if defined(__SANITIZE_ADDRESS__)
    void* reactor_fake_stack = nullptr;
    void* fiber_fake_stack = nullptr;
    const void* reactor_bottom = nullptr;
    std::size_t reactor_size = 0;
#endif
#if defined(__SANITIZE_THREAD__)
    void* tsan_reactor = nullptr;
    void* tsan_fiber = __tsan_create_fiber(0);
#endif

    void create();
    void resume();
    void suspend(bool waiting);
    void pause();
    void arm(clock::time_point deadline);
};

void fiber_runner::state::create() {
    ctx::stack_context context;
    context.sp = stack.top();
    context.size = stack.size();
    const ctx::preallocated memory(stack.top(), stack.size(), context);
    fiber = ctx::fiber(std::allocator_arg, memory, borrowed_stack{},
                       [this](ctx::fiber&& from) -> ctx::fiber {
                           caller = std::move(from);
#if defined(__SANITIZE_ADDRESS__)
                           __sanitizer_finish_switch_fiber(nullptr, &reactor_bottom, &reactor_size);
#endif
                           while (!quit) {
                               work();
                               work = nullptr;
                               suspend(false);
                           }
#if defined(__SANITIZE_ADDRESS__)
                           __sanitizer_start_switch_fiber(nullptr, reactor_bottom, reactor_size);
#endif
                           return std::move(caller);
                       });
}

/// Switch site 1: reactor to fiber. Returns when the fiber suspends or ends.
void fiber_runner::state::resume() {
    assert(!running);
    running = true;
    suspended = false;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&reactor_fake_stack, stack.bottom(), stack.size());
#endif
#if defined(__SANITIZE_THREAD__)
    tsan_reactor = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_fiber, 0);
#endif
    fiber = std::move(fiber).resume();
#if defined(__SANITIZE_THREAD__)
    // A fiber that ends switches here and not itself, so that the calls which its frames still
    // return from are taken off its own list of calls.
    if (quit)
        __tsan_switch_to_fiber(tsan_reactor, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(reactor_fake_stack, nullptr, nullptr);
#endif
    running = false;
    if (!work && done) {
        // The work is over. The coroutine may destroy this runner, so it gets control through the
        // reactor's queue, not from here.
        asio::post(reactor, std::exchange(done, nullptr));
    }
}

/// Switch site 2: fiber to reactor. Returns when the fiber is resumed.
void fiber_runner::state::suspend(bool waiting) {
    suspended = waiting;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fiber_fake_stack, reactor_bottom, reactor_size);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(tsan_reactor, 0);
#endif
    caller = std::move(caller).resume();
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiber_fake_stack, &reactor_bottom, &reactor_size);
#endif
}

void fiber_runner::state::pause() {
    ++suspensions;
    if (hook)
        hook(suspensions);
    suspend(true);
    signalled = false;
}

void fiber_runner::state::arm(clock::time_point deadline) {
    if (deadline == clock::time_point::max())
        return;
    // An earlier alarm is left alone: it wakes the fiber once for nothing, which is cheaper than
    // two timer operations for each of many short waits.
    if (timer_at && *timer_at <= deadline)
        return;
    timer_at = deadline;
    timer.expires_at(deadline);
    timer.async_wait([self = weak_from_this()](const boost::system::error_code& ec) {
        const auto s = self.lock();
        if (!s || ec)
            return;
        s->timer_at.reset();
        if (s->suspended)
            s->resume();
        else
            s->signalled = true;
    });
}

fiber_runner::fiber_runner(asio::any_io_executor reactor, std::size_t stack_size)
    : state_(std::make_shared<state>(std::move(reactor), stack_size)) {}

fiber_runner::~fiber_runner() {
    assert(!state_->running && !state_->suspended && !state_->done);
    state_->timer.cancel();
    if (state_->fiber) {
        state_->quit = true;
        state_->resume();
    }
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(state_->tsan_fiber);
#endif
}

asio::awaitable<void> fiber_runner::run(std::function<void()> work) {
    auto s = state_;
    assert(!s->work && !s->done);
    auto initiate = [s, &work](auto handler) {
        // std::function wants a copyable target; a completion handler is move-only.
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        s->done = [shared] { std::move (*shared)(); };
        s->work = std::move(work);
        s->signalled = false;
        if (!s->fiber)
            s->create();
        s->resume();
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(initiate,
                                                                          asio::use_awaitable);
}

bool fiber_runner::on_fiber() const noexcept {
    return state_->running;
}

void fiber_runner::wait(clock::time_point deadline) noexcept {
    auto& s = *state_;
    if (std::exchange(s.signalled, false))
        return;
    s.arm(deadline);
    s.pause();
}

void fiber_runner::yield() noexcept {
    post_notify();
    state_->pause();
}

void fiber_runner::notify() noexcept {
    if (state_->suspended) {
        const auto keep = state_; // the resumed code may end in our destruction
        keep->resume();
    } else {
        state_->signalled = true;
    }
}

void fiber_runner::post_notify() {
    asio::post(state_->reactor, [self = std::weak_ptr<state>(state_)] {
        const auto s = self.lock();
        if (!s)
            return;
        if (s->suspended)
            s->resume();
        else
            s->signalled = true;
    });
}

std::size_t fiber_runner::stack_high_water() const noexcept {
    return state_->stack.high_water();
}
void fiber_runner::on_suspend(std::function<void(std::size_t)> hook) {
    state_->hook = std::move(hook);
}

} // namespace cdc::mongodb::client
