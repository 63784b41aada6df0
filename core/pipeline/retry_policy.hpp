// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace cdc::pipeline {

/// How long to wait before trying again: exponential backoff with jitter. Decides only, waits for
/// nothing. Attempt n waits a random time in [d/2, d] with d = first * 2^n, never less than `first`
/// and never more than `cap`, so that many connectors of a server that came back do not arrive
/// together and none of them ever spins.
class retry_policy {
  public:
    struct limits {
        std::chrono::milliseconds first{500};
        std::chrono::milliseconds cap{30000};
    };

    /// `seed` makes the sequence repeatable in tests; give it something random elsewhere.
    /// A `cap` below `first` counts as `first`; a `first` below 1 ms as 1 ms.
    retry_policy(limits bounds, std::uint64_t seed);

    /// The wait before the next attempt.
    std::chrono::milliseconds next();
    /// Call after a success.
    void reset() noexcept { attempts_ = 0; }
    /// Calls of `next` since the last `reset`.
    unsigned attempts() const noexcept { return attempts_; }

  private:
    limits bounds_;
    std::mt19937_64 random_;
    unsigned attempts_ = 0;
};

} // namespace cdc::pipeline
