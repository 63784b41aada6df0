// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/retry_plan.hpp"

#include <algorithm>
#include <bit>

namespace cdc::webhook {

retry_plan::retry_plan(pipeline::retry_policy::limits backoff,
                       std::chrono::milliseconds retry_after_cap, std::uint64_t seed)
    : backoff_(backoff, seed)
    , cap_(retry_after_cap) {}

retry_plan::step retry_plan::failed(std::optional<std::chrono::seconds> retry_after) {
    step out;
    out.wait = backoff_.next();
    out.say = std::has_single_bit(failures());
    if (retry_after) {
        const bool beyond = *retry_after > cap_;
        out.wait = std::max(out.wait, beyond ? cap_ : std::chrono::milliseconds(*retry_after));
        out.capped = beyond && !cap_said_;
        cap_said_ = cap_said_ || beyond;
    }
    return out;
}

unsigned retry_plan::delivered() noexcept {
    const unsigned row = failures();
    backoff_.reset();
    cap_said_ = false;
    return row;
}

} // namespace cdc::webhook
