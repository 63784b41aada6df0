// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace cdc::test::standin {

using uuid = std::array<std::uint8_t, 16>;
uuid random_uuid();

/// One change of the set's history.
struct oplog_entry {
    enum class kind {
        noop,
        insert,
        update,
        replace,
        remove,
        create,
        drop,
        rename,
        drop_database,
        command, ///< another command, which gives no event: `object` is its `o`
        other,   ///< whatever `change` says
    };

    kind what = kind::noop;
    bson::timestamp ts;       ///< set by append
    std::int64_t wall_ms = 0; ///< set by append
    std::int64_t term = 0;    ///< set by append: of the primary that wrote it
    std::string db;
    std::string coll;
    uuid collection_id{}; ///< all zero: none
    bson::document key;   ///< {_id: …} of the document changed
    /// The document inserted or put in place; of a noop, its message; of a create, its options.
    bson::document object;
    bson::document updated; ///< dotted paths and new values
    bson::document removed; ///< an array of dotted paths
    std::string to_db;      ///< of a rename
    std::string to_coll;
    uuid dropped_target{};               ///< of a rename over another collection: that one
    std::optional<std::int32_t> records; ///< documents in what was dropped
    /// Of an `other`: its change event, but for `_id`, `clusterTime` and `wallTime`.
    bson::document change;

    /// The change event without lookup, kept from its first use on.
    mutable bson::document event;
};

/// The history: a bounded list with strictly increasing timestamps. An entry's index never changes;
/// the oldest entries go when there are more than `limit`, or when told.
class oplog {
  public:
    /// Begins with the two entries of a fresh set. `limit` 0: no limit.
    explicit oplog(std::size_t limit);

    /// Sets the entry's timestamp and wall time and appends it.
    const oplog_entry& append(oplog_entry entry);

    std::uint64_t first_index() const noexcept { return first_index_; }
    std::uint64_t end_index() const noexcept { return first_index_ + entries_.size(); }
    const oplog_entry& at(std::uint64_t index) const { return entries_[index - first_index_]; }
    /// The first entry at or after `ts`.
    std::uint64_t lower_bound(bson::timestamp ts) const noexcept;

    bson::timestamp last() const noexcept { return last_; }
    std::int64_t last_term() const noexcept { return entries_.back().term; }
    std::int64_t last_wall_ms() const noexcept { return entries_.back().wall_ms; }
    bson::timestamp oldest() const noexcept { return entries_.front().ts; }
    /// Whether the set's very first entry is still there: then any earlier time may be asked for.
    bool complete() const noexcept { return first_index_ == 0; }

    /// A primary was elected: its entry says so, and the entries behind it are of this term.
    void begin_term(std::int64_t term);

    /// Drops the oldest entries, but never the last one.
    void keep_last(std::size_t count);
    /// The same for all entries before `ts`.
    void drop_before(bson::timestamp ts);

    /// Moves the clock ahead of the real one, from now on.
    void advance_clock(std::uint32_t seconds) noexcept { ahead_ += seconds; }
    std::int64_t now_ms() const noexcept;

  private:
    std::deque<oplog_entry> entries_;
    std::uint64_t first_index_ = 0;
    std::size_t limit_;
    std::int64_t term_ = 1;
    bson::timestamp last_;
    std::uint32_t ahead_ = 0;
};

} // namespace cdc::test::standin
