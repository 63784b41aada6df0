// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "core/error/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cdc::mongodb::cursor {

/// One reply of an aggregate or getMore of a change stream, read in place: owns the document, the
/// rest are views into it (they stay valid when it is moved).
struct change_reply {
    bson::document document;
    std::int64_t cursor_id = 0; ///< 0: the server has closed the cursor
    std::string_view ns;        ///< "db.collection" that getMore has to name
    bson::view batch;           ///< firstBatch or nextBatch: an array of change documents
    /// Since MongoDB 4.0.7.
    std::optional<bson::view> post_batch_token;
    std::optional<bson::timestamp> operation_time;

    bool empty() const noexcept { return batch.empty(); }

    /// Errors: protocol, when something is missing or of another type, or a batch's element is not
    /// a document.
    static error::result<change_reply> parse(bson::document reply);

    /// The last change document. Only for a batch that is not empty.
    bson::view last() const noexcept { return last_; }

  private:
    bson::view last_;
};

} // namespace cdc::mongodb::cursor
