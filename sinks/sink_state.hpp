// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cdc::sink {

enum class activity {
    ok,       ///< delivering, or nothing to deliver
    retrying, ///< the destination does not take a record at present; it is offered again and again
};

constexpr const char* name(activity a) noexcept {
    return a == activity::retrying ? "retrying" : "ok";
}

/// How a sink fares at one moment, for status pages and metrics.
struct state {
    activity now = activity::ok;
    unsigned attempts = 0; ///< failed in a row
    std::string reason;    ///< of the last failure; safe to show; empty when ok
};

} // namespace cdc::sink
