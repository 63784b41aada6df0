// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/change_event.hpp"
#include "core/event/event_shape.hpp"
#include "core/json/writer.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace cdc::event {

/// When the change was made, ms since 1970: the server's wall time where the event has it (MongoDB
/// 6.0), else the cluster time.
std::int64_t source_time_ms(const change_event& e) noexcept;

/// Writes the `source` object of one collection's events: Debezium's fields in the order of the
/// event_shape; in `current` with `rs`, the replica set's name, directly before `collection`
/// (Debezium had it until 2.5). Everything that is the same for each event is text made by the
/// constructor. Immutable, so thread-safe.
class source_info {
  public:
    /// What all collections of a connector share.
    struct connector {
        std::string version; ///< of this program
        std::string name;    ///< topic.prefix
        std::string replica_set;
        event_shape shape = event_shape::current;
    };

    source_info(const connector& c, std::string_view db, std::string_view collection);

    /// Appends `{…}` of a streamed event. ts_ms is the server's wall time where the event has it
    /// (MongoDB 6.0), else the cluster time, which the older shapes have always; `ord` is signed in
    /// the schema, so ordinals from 2^31 on are negative as in Debezium; ts_us and ts_ns are null
    /// when they do not fit 64 bits. Errors: bad_data when `lsid` is malformed.
    error::result<void> write(json::writer& out, const change_event& e) const;

    /// The field's schema for envelopes with one.
    static std::string schema(event_shape shape);

    event_shape shape() const noexcept { return shape_; }

  private:
    error::result<void> write_session(json::writer& out, const change_event& e) const;

    event_shape shape_;
    std::string before_ts_ms_;
    std::string behind_ts_ms_;
    std::string before_ord_;
};

} // namespace cdc::event
