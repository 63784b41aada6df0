// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/reactor_pool.hpp"

#include <string>

namespace cdc::runtime {

reactor_pool::reactor_pool(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        reactors_.push_back(std::make_unique<reactor>("reactor-" + std::to_string(i)));
}

reactor& reactor_pool::place() noexcept {
    return *reactors_[next_++ % reactors_.size()];
}

} // namespace cdc::runtime
