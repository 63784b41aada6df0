// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"
#include "sources/mongodb/streaming/oplog_history.hpp"

#include <chrono>
#include <optional>

namespace cdc::mongodb::streaming {

/// How long the connector may stand still before its stored position leaves the oplog: the time
/// between the two. Decides without I/O when to look and when to warn; used from one reactor.
class oplog_headroom {
  public:
    using clock = std::chrono::steady_clock;
    struct settings {
        std::chrono::milliseconds warn_below{0};   ///< 0: never warn
        std::chrono::milliseconds interval{60000}; ///< between two looks at the oplog
    };

    explicit oplog_headroom(settings s)
        : settings_(s) {}

    /// When to look next; at once in the beginning; after a refusal not before a new connection.
    clock::time_point next_look() const noexcept;
    /// Perhaps to another member, perhaps with other rights by now.
    void on_connected() noexcept { refused_ = false; }
    /// The user may not read the oplog.
    void on_refused(clock::time_point now) noexcept;
    /// The look failed in another way.
    void on_failed(clock::time_point now) noexcept { next_ = now + settings_.interval; }

    enum class news {
        none,
        first,  ///< the first value
        low,    ///< it fell below the threshold
        enough, ///< it rose above it again
    };
    /// `stored`: the position that a restart would begin at. An oplog that still begins with its
    /// set's first entry loses nothing yet, so that it is never low.
    news on_oldest(oplog_history::first_entry oldest, bson::timestamp stored,
                   clock::time_point now) noexcept;

    /// As measured last; nothing when unknown. Never negative: 0 when the position has left.
    std::optional<std::chrono::milliseconds> value() const noexcept { return value_; }

  private:
    settings settings_;
    clock::time_point next_{}; // at once
    std::optional<std::chrono::milliseconds> value_;
    bool refused_ = false;
    bool low_ = false;
};

} // namespace cdc::mongodb::streaming
