// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "core/error/result.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace cdc::event {

/// A place in a change stream: the resume token (the server's `_id` document, opaque but for its
/// order) and the cluster time it stands for. A value; owns its token.
///
/// Order: tokens sort by their `_data` text (that is the server's own rule: the text is the hex
/// form of a memory-comparable key), and so does time. A high-water token of a time sorts before
/// the tokens of the events of that time.
class position {
  public:
    /// No position: sorts before every other.
    position() = default;
    position(bson::view token, bson::timestamp cluster_time);

    bool empty() const noexcept { return data_.empty(); }
    bson::view token() const noexcept { return token_; }
    /// The `_data` text of the token.
    std::string_view data() const noexcept { return data_; }
    bson::timestamp cluster_time() const noexcept { return time_; }

    /// True for tokens that stand for a time only (postBatchResumeToken of an empty stretch), false
    /// for tokens of one event. Opening at an *event* token that has left the oplog is not noticed
    /// by the server before the next event, opening at a high-water token is. What cannot be
    /// recognised counts as an event token, which is the careful side.
    bool is_high_water() const noexcept;

    /// True for the token of an `invalidate` event: only `startAfter` (MongoDB 4.2) opens a stream
    /// behind it, `resumeAfter` is refused with 260.
    bool is_from_invalidate() const noexcept;

    position clone() const;

    /// What is kept with the position, for whoever goes on from it: the state of the transaction it
    /// lies in (transaction_context::save); null for none. It does not take part in comparisons.
    const std::shared_ptr<const std::string>& transaction() const noexcept { return transaction_; }
    void set_transaction(std::shared_ptr<const std::string> saved) noexcept {
        transaction_ = std::move(saved);
    }

    /// One line of JSON: {"resume_token":"<base64 of the BSON
    /// token>","data":"82…","sec":…,"ord":…}, inside a transaction with ,"transaction":"…"
    std::string to_json() const;
    /// Errors: state_invalid for anything that to_json cannot have written.
    static error::result<position> from_json(std::string_view json);

    /// A resume token as people have it: the hex text of `_data`, or the whole token as extended
    /// JSON ({"_data": "82…"}; some tokens have `_typeBits` too). Errors: bad_data, without the
    /// text, for what cannot be a token of MongoDB 4.0.7 or later.
    static error::result<position> from_token_text(std::string_view text);

    /// The cluster time inside a token's `_data`, or nothing when the text is not a token.
    static std::optional<bson::timestamp> time_of(std::string_view data) noexcept;

    friend std::strong_ordering operator<=>(const position& a, const position& b) noexcept {
        return a.data_ <=> b.data_;
    }
    friend bool operator==(const position& a, const position& b) noexcept {
        return a.data_ == b.data_;
    }

  private:
    bson::document token_;
    std::string data_;
    bson::timestamp time_;
    std::shared_ptr<const std::string> transaction_;
};

} // namespace cdc::event
