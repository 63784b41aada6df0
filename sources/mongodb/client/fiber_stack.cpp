// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/fiber_stack.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

namespace cdc::mongodb::client {

namespace {

#if !defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool painted = true;
#else
constexpr bool painted = false;
#endif
constexpr unsigned char paint = 0xa5;

std::atomic<std::size_t> mapped{0};

} // namespace

fiber_stack::fiber_stack(std::size_t usable)
    : guard_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    usable_ = (usable + guard_ - 1) / guard_ * guard_;
    base_ = mmap(nullptr, usable_ + guard_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (base_ == MAP_FAILED)
        throw std::bad_alloc();
    if (mprotect(base_, guard_, PROT_NONE) != 0) {
        munmap(base_, usable_ + guard_);
        throw std::bad_alloc();
    }
    if constexpr (painted)
        std::memset(bottom(), paint, usable_);
    ++mapped;
}

fiber_stack::~fiber_stack() {
    --mapped;
    munmap(base_, usable_ + guard_);
}

std::size_t fiber_stack::count() noexcept {
    return mapped;
}

void* fiber_stack::bottom() const noexcept {
    return static_cast<char*>(base_) + guard_;
}
void* fiber_stack::top() const noexcept {
    return static_cast<char*>(base_) + guard_ + usable_;
}

std::size_t fiber_stack::high_water() const noexcept {
    if constexpr (!painted)
        return 0;
    const auto* at = static_cast<const unsigned char*>(bottom());
    std::size_t untouched = 0;
    while (untouched < usable_ && at[untouched] == paint)
        ++untouched;
    return usable_ - untouched;
}

} // namespace cdc::mongodb::client
