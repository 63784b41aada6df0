// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cdc::mongodb::client {

/// Memory for one fiber's stack with a guard page below it, so that an overflow faults instead of
/// writing into a neighbour.
class fiber_stack {
  public:
    /// `usable` bytes, rounded up to pages. Throws std::bad_alloc.
    explicit fiber_stack(std::size_t usable);
    ~fiber_stack();
    fiber_stack(const fiber_stack&) = delete;
    fiber_stack& operator=(const fiber_stack&) = delete;

    void* bottom() const noexcept; ///< lowest usable address
    void* top() const noexcept;    ///< one past the highest; stacks grow down from here
    std::size_t size() const noexcept { return usable_; }

    /// Bytes that were ever used. Measured in builds without NDEBUG and without sanitizers, else 0.
    std::size_t high_water() const noexcept;

    /// Stacks that this process has now. Any thread.
    static std::size_t count() noexcept;

  private:
    std::size_t usable_;
    std::size_t guard_;
    void* base_;
};

} // namespace cdc::mongodb::client
