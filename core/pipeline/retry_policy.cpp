// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/retry_policy.hpp"

#include <algorithm>

namespace cdc::pipeline {

retry_policy::retry_policy(limits bounds, std::uint64_t seed)
    : bounds_(bounds)
    , random_(seed) {
    bounds_.first = std::max(bounds_.first, std::chrono::milliseconds{1});
    bounds_.cap = std::max(bounds_.cap, bounds_.first);
}

std::chrono::milliseconds retry_policy::next() {
    ++attempts_;
    auto longest = bounds_.first;
    for (unsigned i = 0; i < attempts_ && longest < bounds_.cap; ++i)
        longest = longest > bounds_.cap / 2 ? bounds_.cap : longest * 2;
    const auto shortest = std::max(bounds_.first, longest / 2);
    std::uniform_int_distribution<std::chrono::milliseconds::rep> between(shortest.count(),
                                                                          longest.count());
    return std::chrono::milliseconds{between(random_)};
}

} // namespace cdc::pipeline
