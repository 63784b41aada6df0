// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/mongodb/client/runner.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

namespace cdc::mongodb::client {

/// Runs blocking code on a stack of its own, on the caller's reactor. Where the code would block it
/// calls `wait`, which switches back to the reactor; `notify` switches forth again.
///
/// The stack is switched in exactly two places (`resume` and `suspend` in the .cpp); the sanitizers
/// are told there. The fiber never leaves its reactor's thread: libmongoc and OpenSSL keep errno
/// and error queues per thread across our callbacks.
///
/// Must not be destroyed while `run` is pending (asserted): Boost.Context would unwind the stack by
/// force, through C frames.
class fiber_runner final : public runner {
  public:
    using clock = std::chrono::steady_clock;

    /// 256 KiB: libmongoc uses 13 KiB for everything measured, but a deeply nested document costs
    /// about 1 KiB a level where libbson recurses.
    static constexpr std::size_t default_stack_size = 256 * 1024;

    explicit fiber_runner(boost::asio::any_io_executor reactor,
                          std::size_t stack_size = default_stack_size);
    ~fiber_runner() override;

    boost::asio::awaitable<void> run(std::function<void()> work) override;

    /// True while called from inside `work`.
    bool on_fiber() const noexcept;

    /// On the fiber only: suspends until `notify`, or `deadline`. May return early; callers loop
    /// around their own condition. Returns at once when a `notify` came since the last wait.
    void wait(clock::time_point deadline) noexcept;

    /// On the fiber only: lets other work of the reactor run, then goes on.
    void yield() noexcept;

    /// Wakes a suspended fiber. Resumes it *inline*: call it from completion handlers only, as
    /// their last statement, never from the fiber itself.
    void notify() noexcept;
    /// The same through the reactor's queue, for callers that the resumed code may destroy.
    void post_notify();

    /// Bytes of stack ever used (0 where not measured, see fiber_stack).
    std::size_t stack_high_water() const noexcept;
    /// Called with the running number at each suspension, before the switch. For tests.
    void on_suspend(std::function<void(std::size_t)> hook);

  private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace cdc::mongodb::client
