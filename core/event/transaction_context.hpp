// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/change_event.hpp"
#include "core/event/position.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::event {

/// Which transaction the stream is in and how many of its events were written
/// (provide.transaction.metadata). A transaction is a session id and a transaction number, however
/// many oplog entries and cluster times it has. It begins with its first event that is written and
/// is over when an event of another one, or of none, comes, or when the stream's position has
/// passed it: no event needs to follow.
///
/// The state can be kept with a stored position and given back, so that numbers go on behind a
/// restart in the middle of a transaction. (Debezium begins at 1 again there.) No I/O; one instance
/// for each encoding, which all go through the same states.
class transaction_context {
  public:
    struct count {
        std::string collection; ///< `db.collection`
        std::int64_t events = 0;
    };

    bool open() const noexcept { return !id_.empty(); }

    /// Whether `next` shows the open transaction to be over.
    bool is_over_before(const change_event& next) const noexcept;
    /// Whether `end`, the position behind a batch, does. A high-water token behind the last event
    /// does: a stream gives one when nothing is left of the time in front of it.
    bool is_passed_by(const position& end) const noexcept;

    /// Whether `e` is of a transaction that is not the open one.
    bool begins_with(const change_event& e) const noexcept;
    /// Opens the transaction of `e`. Errors: bad_data when its lsid is malformed.
    error::result<void> begin(const change_event& e);
    /// The open transaction, for its records: `{"id": …}:131`, its events by collection in the
    /// order of their first appearance, and the time of its last event (ms; of its first one before
    /// any was counted).
    const std::string& id() const noexcept { return id_; }
    const std::vector<count>& counts() const noexcept { return counts_; }
    std::int64_t total() const noexcept { return total_; }
    std::int64_t last_time_ms() const noexcept { return last_time_ms_; }
    /// `_data` of the resume token of its last event that was counted.
    const std::string& last_token() const noexcept { return last_token_; }

    /// Numbers of an event of the open transaction, from 1.
    struct place {
        std::int64_t total_order;
        std::int64_t collection_order;
    };
    place next_place(const change_event& e) const noexcept;
    /// An event of the open transaction was written.
    void count_event(const change_event& e);
    void end() noexcept;

    /// The open transaction as one line of text without characters that JSON escapes; null when
    /// none is open.
    std::shared_ptr<const std::string> save() const;
    /// Errors: state_invalid for what `save` cannot have written.
    error::result<void> restore(std::string_view saved);

  private:
    bool is_of_open(const change_event& e) const noexcept;

    std::string id_;
    std::vector<std::uint8_t> lsid_; ///< of the open transaction, to compare with
    std::int64_t number_ = 0;
    std::int64_t total_ = 0;
    std::int64_t last_time_ms_ = 0;
    std::string last_token_;
    std::vector<count> counts_;
};

} // namespace cdc::event
