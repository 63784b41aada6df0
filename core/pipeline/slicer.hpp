// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/position.hpp"
#include "core/pipeline/ack_window.hpp"
#include "core/pipeline/bounded_queue.hpp"
#include "core/pipeline/encoder.hpp"
#include "sources/source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cdc::pipeline {

/// Cuts the batches of a source into encoded pieces small enough to bound memory and the time the
/// reactor is held, numbers the records, and knows which sinks have a piece already. No I/O; used
/// from one reactor.
class slicer {
  public:
    struct limits {
        std::size_t records = 512;
        std::size_t bytes = 1024 * 1024; ///< of encoded text, all encodings together
    };

    /// Consecutive events of one batch.
    struct slice {
        std::shared_ptr<const queue_entry> entry; ///< null when the events make no records
        std::shared_ptr<const ack_window::marks> positions;
        std::uint64_t last = 0; ///< the newest sequence number given out, this slice included
        std::size_t events = 0;
        std::vector<bool> had; ///< per sink: it has these records from an earlier run
        bool done = false;     ///< the batch has no more
    };

    /// `encoders`: at least one, one per encoding. `starts`: per sink the position up to which it
    /// has everything (empty: nothing). A slice never holds both records that a sink has and
    /// records that it has not.
    slicer(std::vector<std::shared_ptr<encoder>> encoders, std::vector<event::position> starts,
           limits bounds);

    /// The next slice of `batch`, from its event number `at` on, which is moved behind the slice.
    /// Again until a slice is `done`; once for an empty batch. Errors: those of the encoder, the
    /// text with namespace and position of the event; all events before it have been given out by
    /// then. Nothing may be called after an error.
    error::result<slice> next(const source::batch& batch, std::size_t& at, std::int64_t now_ms);

  private:
    error::result<std::size_t> encode(const event::change_event& e, std::int64_t now_ms,
                                      std::vector<event::record_batch_builder>& builders);
    /// Whether a sink that lacks nothing up to its start lacks what comes at `token` (`behind`:
    /// what comes behind it, before any other token).
    bool lacks(std::size_t sink, std::string_view token, bool behind) const;
    bool ends_catching_up(std::string_view token, bool behind) const;
    void note_catching_up(std::string_view token, bool behind);
    bool end_transaction(std::string_view last_token,
                         std::vector<event::record_batch_builder>& builders);

    std::vector<std::shared_ptr<encoder>> encoders_;
    std::vector<event::position> starts_;
    limits bounds_;
    std::vector<bool> behind_; ///< per sink: the stream has not passed its start yet
    std::size_t behind_count_ = 0;
    std::uint64_t next_sequence_ = 1;
};

} // namespace cdc::pipeline
