// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/builder.hpp"
#include "core/bson/document.hpp"
#include "core/error/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cdc::mongodb::cursor {

/// Joins the fragments of an event that the server split ($changeStreamSplitLargeEvent, MongoDB
/// 6.0.9): each holds some of the event's top fields, a token of its own and
/// `splitEvent: {fragment, of}`. Whatever fields there are come together; none is required here.
/// The whole event's `_id` is the last fragment's: there it can be resumed behind.
///
/// Fragments may lie in different replies. A first fragment, and every event that is whole, forgets
/// what was begun: after a fault the stream is opened in front of the event, which then comes again
/// from its beginning. Holds one event's bytes at most. No I/O; used from one reactor.
class split_event {
  public:
    /// An event is three documents at most, each within the server's limit.
    static constexpr std::size_t largest = std::size_t{64} << 20U;

    struct part {
        std::int64_t fragment = 0; ///< from 1
        std::int64_t of = 0;

        bool last() const noexcept { return fragment == of; }
    };
    /// Nothing for an event that was not split. Errors: bad_data.
    static error::result<std::optional<part>> part_of(bson::view change);

    /// Whether a token's `_data` is that of a fragment: the fragment's number stands behind the
    /// document's key there. A guess for tokens without a key, such as those of drops.
    static bool is_fragment_token(std::string_view data) noexcept;

    /// Takes a fragment; gives the event with its last one. Errors: bad_data, for one that does not
    /// follow, or above `largest`; what was begun is forgotten then.
    error::result<std::optional<bson::document>> add(bson::view fragment, part number);

    /// An event that is whole came.
    void forget() noexcept { next_ = 1; }

    /// In the middle of an event.
    bool pending() const noexcept { return next_ != 1; }

  private:
    bson::builder fields_;
    std::size_t bytes_ = 0;
    std::int64_t next_ = 1;
    std::int64_t of_ = 0;
};

} // namespace cdc::mongodb::cursor
