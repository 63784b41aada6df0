// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/operation.hpp"
#include "core/event/position.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::event {

/// What a sink receives: views into its batch, valid as long as the batch is held.
struct record {
    std::string_view topic;
    std::string_view key;                  ///< JSON text
    std::optional<std::string_view> value; ///< JSON text; nothing for a tombstone
    operation op = operation::other;       ///< of the event the record belongs to
    std::uint64_t sequence = 0;            ///< 1, 2, 3 … without gaps inside one run of a connector
    std::string_view token;                ///< `_data` of the event's resume token
    /// Of the record within its event: 0 data, 1 tombstone; 2 the END of the transaction whose last
    /// event it is, 3 the BEGIN of the one whose first event it is.
    std::uint32_t index = 0;
};

/// Records of consecutive sequence numbers with their bytes, immutable once built and shared by all
/// sinks that want this encoding. The position of an event becomes safe with its last record.
class record_batch {
  public:
    /// "Once everything up to `sequence` is acknowledged, `position` may be stored."
    struct mark {
        std::uint64_t sequence;
        event::position position;
    };

    std::size_t size() const noexcept { return slots_.size(); }
    record operator[](std::size_t i) const noexcept;
    std::uint64_t first_sequence() const noexcept { return first_sequence_; }
    std::uint64_t last_sequence() const noexcept { return first_sequence_ + slots_.size() - 1; }
    /// Memory this batch holds, in bytes; what the queue counts.
    std::size_t bytes() const noexcept;

  private:
    friend class record_batch_builder;
    struct slot {
        std::uint32_t key_begin, key_end, value_end; ///< value directly behind the key
        std::uint32_t topic;                         ///< index into topics_
        std::uint32_t token_begin, token_size;
        std::uint32_t index;
        operation op;
        bool tombstone;
    };
    std::string bytes_;
    std::vector<slot> slots_;
    std::vector<std::shared_ptr<const std::string>> topics_;
    std::uint64_t first_sequence_ = 0;
};

/// Fills a batch. The encoder appends key and value text straight to `buffer()`; nothing is copied.
///     builder.begin_event(token);
///     builder.begin_record(topic, op);  …append the key…  builder.begin_value();  …append the
///     value… builder.end_record(tombstone);
class record_batch_builder {
  public:
    explicit record_batch_builder(std::uint64_t first_sequence);

    std::string& buffer() noexcept { return batch_->bytes_; }
    void begin_event(std::string_view token);
    /// Of the next record, when it is not the one behind the last.
    void set_next_index(std::uint32_t index) noexcept { index_ = index; }
    void begin_record(std::shared_ptr<const std::string> topic, operation op);
    void begin_value();
    void end_record(bool tombstone);
    /// Undoes everything since the last begin_event.
    void discard_event();

    std::size_t size() const noexcept { return batch_->slots_.size(); }
    std::size_t bytes() const noexcept { return batch_->bytes_.size(); }
    std::uint64_t next_sequence() const noexcept { return batch_->first_sequence_ + size(); }

    /// The finished batch; the builder must not be used afterwards.
    std::shared_ptr<const record_batch> finish();

  private:
    std::shared_ptr<record_batch> batch_;
    std::size_t event_begin_bytes_ = 0;
    std::size_t event_begin_slots_ = 0;
    std::uint32_t token_begin_ = 0;
    std::uint32_t token_size_ = 0;
    std::uint32_t index_ = 0;
    record_batch::slot open_{};
};

} // namespace cdc::event
