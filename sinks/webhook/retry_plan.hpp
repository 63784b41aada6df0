// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/pipeline/retry_policy.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace cdc::webhook {

/// What follows a failed attempt: how long to wait, and whether it is worth a line in the log.
/// Decides only. Failures are counted in a row, across records; a delivery ends the row.
class retry_plan {
  public:
    /// `retry_after_cap`: longest wait that a receiver may ask for.
    retry_plan(pipeline::retry_policy::limits backoff, std::chrono::milliseconds retry_after_cap,
               std::uint64_t seed);

    struct step {
        std::chrono::milliseconds wait{0};
        bool say = false; ///< the 1st, 2nd, 4th, 8th, ... failure of the row
        bool capped =
            false; ///< the receiver asked for more than the cap, for the first time in this row
    };
    /// `retry_after`: what the receiver asked for. The wait is never shorter than that (up to the
    /// cap) nor than the backoff.
    step failed(std::optional<std::chrono::seconds> retry_after);

    /// Ends the row; gives how many failures it had.
    unsigned delivered() noexcept;

    unsigned failures() const noexcept { return backoff_.attempts(); }

  private:
    pipeline::retry_policy backoff_;
    std::chrono::milliseconds cap_;
    bool cap_said_ = false;
};

} // namespace cdc::webhook
