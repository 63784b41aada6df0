// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace cdc::source {

enum class activity {
    reading,      ///< connected; also while nothing happens that it could read
    reconnecting, ///< it cannot read at present and tries again and again; also before its first
                  ///< success
};

constexpr const char* name(activity a) noexcept {
    return a == activity::reconnecting ? "reconnecting" : "reading";
}

/// How a source fares at one moment, for status pages and metrics.
struct state {
    activity now = activity::reading;
    /// Reconnecting: since when; on the wall clock.
    std::chrono::system_clock::time_point since{};
    /// Failed in a row. Counts on until something is read or the position moves, so that trouble
    /// which comes back behind each short success is seen; 0 while reading.
    unsigned attempts = 0;
    std::string reason; ///< of the last failure; safe to show; empty while reading
};

} // namespace cdc::source
