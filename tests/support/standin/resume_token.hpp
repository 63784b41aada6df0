// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/oplog.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cdc::test::standin {

/// A change stream position as the server hands it out: hex of a key string over clusterTime,
/// version 1, token type (128 an event, 0 a high-water mark), 0, "from an invalidate", the
/// collection's id and the document's key, where there are any; of a fragment of a split event its
/// number behind that, as 7.0 has it (from its source, not from a recording).
class resume_token {
  public:
    /// `fragment`: of a split event, from 0 on.
    static resume_token of_event(const oplog_entry& entry, bool invalidate = false,
                                 std::optional<std::int32_t> fragment = std::nullopt);
    /// The number of the fragment when this is a token of one of the entry's event.
    std::optional<std::int32_t> fragment_of(const oplog_entry& entry) const;
    static resume_token high_water(bson::timestamp ts);
    /// What a client sent. Throws server_error with the server's code (9, 15, 40647, 50811 ...).
    static resume_token parse(const bson::cursor& sent);

    bson::timestamp cluster_time() const noexcept { return cluster_time_; }
    bool is_high_water() const noexcept { return high_water_; }
    bool from_invalidate() const noexcept { return from_invalidate_; }
    const std::string& data() const noexcept { return data_; }
    /// {_data: …} and, when it has any, _typeBits.
    bson::document to_document() const;
    /// As error texts show it: `{_data: "82…"}`.
    std::string describe() const;

  private:
    bson::timestamp cluster_time_;
    bool high_water_ = false;
    bool from_invalidate_ = false;
    std::string data_;
    std::string type_bits_;
};

} // namespace cdc::test::standin
