// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/cursor.hpp"
#include "tests/support/standin/resume_token.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace cdc::test::standin {

/// Change documents of a real server, served byte for byte. Every change stream, whatever its scope
/// and its pipeline, gets exactly these in this order and then waits.
class recorded_history {
  public:
    /// Appends the change documents of a recording: JSON lines with {"event": …, "bson": base64} or
    /// {"change": base64}; other lines are passed over. Throws std::runtime_error when it cannot be
    /// read or has no change document.
    void load(const std::filesystem::path& jsonl);
    /// Appends one change document. Throws std::runtime_error without an `_id` and a clusterTime.
    void add(bson::document change);

    std::size_t size() const noexcept { return changes_.size(); }
    bson::view at(std::size_t i) const { return changes_[i]; }

    /// Where a stream begins: behind the token's document, or at the first one at or after the
    /// time; without both at the first. Throws server_error 280 for an event token that is not
    /// there.
    std::size_t begin_at(const std::optional<resume_token>& token,
                         const std::optional<bson::timestamp>& time) const;

  private:
    std::vector<bson::document> changes_;
};

class recorded_cursor final : public cursor {
  public:
    /// `history` outlives the cursor.
    recorded_cursor(const recorded_history& history, const std::optional<resume_token>& token,
                    const std::optional<bson::timestamp>& time);
    void fill(batch& out) override;
    bool exhausted() const override { return false; }
    bool waits() const override { return true; }
    bson::document position() const override { return position_.clone(); }

  private:
    const recorded_history& history_;
    std::size_t next_;
    bson::document position_;
};

} // namespace cdc::test::standin
