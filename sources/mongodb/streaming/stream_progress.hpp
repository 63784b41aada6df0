// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/position.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"
#include "sources/mongodb/cursor/change_reply.hpp"

#include <optional>

namespace cdc::mongodb::streaming {

/// How far a change stream has come: where to open it again, and which positions may be stored.
/// Decides without I/O; used from one reactor.
///
/// The silent gap. A server that has lost the oplog entry of an *event* token still opens the
/// stream, answers empty batches, and puts the resume token of those batches *behind* the gap; the
/// error (280) comes only with the next event. Who stored that token meanwhile and restarted would
/// never hear of the loss. So after opening at an event token nothing counts until it is proved:
/// an event came (the server finds the token first, before it gives one), or a probe, a stream
/// opened with startAtOperationTime = the token's time on the same server, survived its first
/// getMore (for operation times and high-water tokens the server does check, with 286).
class stream_progress {
  public:
    stream_progress() = default;
    explicit stream_progress(event::position from)
        : at_(std::move(from)) {}
    /// Begins at a time, that time included.
    explicit stream_progress(bson::timestamp from)
        : start_time_(from) {}

    /// Where to open: behind the last position that counts (or at its time), else at the first
    /// opening's time, else from now. Without `start_after`, which servers have since 4.2, what is
    /// behind an invalidate is opened at the time that follows: nothing comes between.
    cursor::open_at next_opening(bool start_after = true) const;
    bool opens_with_token() const noexcept { return !at_.empty() && !at_its_time_; }

    /// The server does not find the event of `at`, though it has what happened at that time: open
    /// at the time, until the position has moved. What comes again by that, comes again; positions
    /// do not go back.
    void open_at_its_time() noexcept { at_its_time_ = true; }
    bool is_at_its_time() const noexcept { return at_its_time_; }

    /// The stream was opened at `next_opening`; `reply` is the aggregate's. Gives the position to
    /// store, if it moved. Errors: protocol, when the stream was opened from now and the server
    /// does not tell where that is.
    error::result<std::optional<event::position>> on_opened(const cursor::change_reply& reply);

    /// The reply of a getMore. A reply that ends inside an event (a fragment that is not the last)
    /// counts up to its last whole event. Gives the position that may be stored once the batch's
    /// events are delivered, if it moves anything. With `needs_proof` afterwards: nothing was
    /// taken, find the proof and give the same reply again.
    std::optional<event::position> on_reply(const cursor::change_reply& reply);

    /// Everything up to `p` is done with, though it did not come in a reply.
    void on_passed(const event::position& p);

    bool needs_proof() const noexcept { return unproved_; }
    void on_proved() noexcept { unproved_ = false; }

    /// The last position that counts; empty before the first.
    const event::position& at() const noexcept { return at_; }

  private:
    event::position at_;
    /// Servers before 4.0.7 give no token with an empty batch.
    std::optional<bson::timestamp> start_time_;
    bool unproved_ = false;
    bool at_its_time_ = false;
};

} // namespace cdc::mongodb::streaming
