// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/position.hpp"
#include "core/event/record.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace cdc::pipeline {

/// Which position of a stream is safe for one sink: the newest whose records, and all records
/// before them, are acknowledged. Decides only; no I/O, no clock, not thread-safe.
///
/// Memory is bounded by what is in flight: acknowledged ranges are kept merged, and marks that a
/// later one makes useless are dropped. All calls are O(1) amortised, but for a logarithm of the
/// number of gaps when ranges arrive out of order.
class ack_window {
  public:
    using marks = std::vector<event::record_batch::mark>;

    /// `start`: what is stored for this sink already (empty: nothing). The answer never falls
    /// behind it, and never goes back in the order of positions.
    explicit ack_window(event::position start);

    /// Records up to `last` exist now; together with the positions that become safe with them.
    /// Marks come in order of sequence and of position, none above `last`. A mark that brings no
    /// record (an empty batch, a filtered event) carries the last sequence before it. The marks are
    /// shared by the windows of all sinks. `last` never goes back.
    void extend(std::uint64_t last, std::shared_ptr<const marks> positions);

    /// All records first..last are done. False, and nothing changed, when that cannot be: an empty
    /// or unknown range, or one of its records was acknowledged before.
    bool acknowledge(std::uint64_t first, std::uint64_t last);

    /// The newest safe position; null when there is none yet.
    std::shared_ptr<const event::position> safe() const noexcept { return safe_; }
    /// Everything up to this sequence is acknowledged.
    std::uint64_t acknowledged_through() const noexcept { return through_; }
    /// Number of records acknowledged, gaps not counted.
    std::uint64_t acknowledged() const noexcept { return acknowledged_; }
    /// Number of records that exist and are not acknowledged.
    std::uint64_t pending() const noexcept { return last_ - acknowledged_; }

    /// Ranges and marks held, for tests of the bound.
    std::size_t held() const noexcept;

  private:
    struct chunk {
        std::shared_ptr<const marks> positions;
        std::size_t next = 0;
    };

    void advance();

    std::shared_ptr<const event::position> safe_;
    std::deque<chunk> chunks_;
    std::map<std::uint64_t, std::uint64_t> gaps_; ///< first -> last of ranges beyond the first gap
    std::uint64_t last_ = 0;
    std::uint64_t through_ = 0;
    std::uint64_t acknowledged_ = 0;
};

} // namespace cdc::pipeline
