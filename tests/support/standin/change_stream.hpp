// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/cursor.hpp"
#include "tests/support/standin/pipeline.hpp"
#include "tests/support/standin/resume_token.hpp"
#include "tests/support/standin/storage.hpp"

#include <deque>
#include <optional>
#include <string>

namespace cdc::test::standin {

/// The $changeStream stage as a client asked for it.
struct change_stream_options {
    std::string db;
    std::string coll;                   ///< empty: the whole database
    bool cluster = false;               ///< allChangesForCluster
    bool lookup = false;                ///< fullDocument: updateLookup
    std::optional<resume_token> resume; ///< resumeAfter or startAfter
    std::optional<bson::timestamp> start_at;

    /// Throws server_error for what the server refuses. `major` is the version played.
    static change_stream_options parse(const bson::cursor& stage, const std::string& db,
                                       const std::string& coll, int major);
};

/// A change stream over the set's history.
class change_stream final : public cursor {
  public:
    /// `data` outlives the cursor. A position that the history does not have any more shows at the
    /// first fill, as on the server.
    change_stream(const storage& data, change_stream_options options, pipeline stages, bool modern);

    void fill(batch& out) override;
    bool exhausted() const override { return invalidated_ && !pending_invalidate_; }
    bool waits() const override { return true; }
    bson::document position() const override;

  private:
    void check_history();
    bool in_scope(const oplog_entry& e) const;
    bool invalidates(const oplog_entry& e) const;
    /// False when the batch is full.
    bool deliver(const oplog_entry& e, batch& out);
    bool deliver_invalidate(const oplog_entry& e, batch& out);
    std::optional<bson::document> event_of(const oplog_entry& e) const;
    bool emit_fragments(const oplog_entry& e, const bson::document* event, batch& out);
    bool emit(std::optional<bson::document> event, bson::view token, batch& out);
    void pass_time(bson::timestamp ts);

    const storage& data_;
    change_stream_options options_;
    pipeline stages_;
    bool modern_;
    bool match_before_lookup_;
    bool checked_ = false;
    bool must_find_token_ = false; ///< the token's own event has not been seen yet
    bool invalidated_ = false;
    bool pending_invalidate_ = false;
    std::uint64_t next_ = 0;
    /// Opened at a fragment of a split event: of `next_`'s event, which is split again.
    std::optional<std::int32_t> resume_fragment_;
    /// Fragments of `next_`'s event that no batch had room for yet.
    std::deque<bson::document> fragments_;
    bson::timestamp start_;
    /// The position: a token, or the high-water mark of a time, which is made only when asked for.
    std::optional<bson::document> token_;
    bson::timestamp reached_; ///< no high-water mark below this is handed out
};

} // namespace cdc::test::standin
