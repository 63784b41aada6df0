// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/change_event.hpp"
#include "core/event/control_record.hpp"
#include "core/event/position.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"
#include "sources/mongodb/cursor/change_reply.hpp"
#include "sources/mongodb/cursor/split_event.hpp"
#include "sources/mongodb/filters.hpp"
#include "sources/source.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdc::mongodb::streaming {

/// A reply of a change stream cursor, decoded: owns the reply, its events are views into it or into
/// events that were joined from fragments, and the control records of events about namespaces.
class stream_batch final : public source::batch {
  public:
    /// Decodes the documents of `reply` and keeps the data events that `f` wants; with
    /// `target.namespace_events` also drop, rename and dropDatabase, as control events. `end` as in
    /// source::batch. Never fails as a whole: at a document that cannot be read and where a filter
    /// cannot decide, the batch ends in front of it, has no `end`, and `stopped` says why.
    stream_batch(cursor::change_reply reply, std::optional<event::position> end, filters& f,
                 const cursor::stream_target& target);
    /// The same of a stream that splits large events: `fragments` holds what the batch before has
    /// left of one, and takes what this one leaves.
    stream_batch(cursor::change_reply reply, std::optional<event::position> end, filters& f,
                 const cursor::stream_target& target, cursor::split_event& fragments);

    const std::vector<event::change_event>& events() const noexcept override { return events_; }
    const std::optional<event::position>& end() const noexcept override { return end_; }
    std::size_t bytes() const noexcept override { return reply_.document.size(); }

    /// Why the stream cannot go on behind this batch. bad_data or configuration.
    const std::optional<error::diagnostics>& stopped() const noexcept { return stopped_; }
    /// Documents that were left out: of other namespaces or of types that make no records.
    std::size_t skipped() const noexcept { return skipped_; }
    /// Events whose document is above the skip threshold, left out: "insert of shop.orders …".
    const std::vector<std::string>& oversized() const noexcept { return oversized_; }
    /// Nothing to deliver and nothing to store.
    bool idle() const noexcept { return events_.empty() && !end_ && !stopped_; }

  private:
    void read_all(filters& f, const cursor::stream_target& target, cursor::split_event* fragments);
    error::result<bool> read(bson::view change, filters& f, const cursor::stream_target& target);
    error::result<bool> take(event::change_event e, bson::view change, filters& f,
                             bool namespace_events);
    bool leave_out(bson::view change, const cursor::stream_target& target);
    void stop(error::diagnostics why);

    cursor::change_reply reply_;
    std::optional<event::position> end_;
    std::deque<bson::document> joined_; ///< never move: events view them
    std::vector<event::change_event> events_;
    std::deque<event::control_record> controls_; ///< never move: events point to them
    std::optional<error::diagnostics> stopped_;
    std::size_t skipped_ = 0;
    std::vector<std::string> oversized_;
};

} // namespace cdc::mongodb::streaming
