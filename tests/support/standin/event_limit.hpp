// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/oplog.hpp"

#include <deque>

namespace cdc::test::standin {

/// Throws the server's 10334 when a reply cannot carry this event, as recorded on 4.4.0: for the
/// whole getMore, whatever else it would have had.
void check_event_size(bson::view event);

/// Whether $changeStreamSplitLargeEvent splits it: what is left of the limit when the reply's own
/// position has its place.
bool needs_split(bson::view event) noexcept;

/// The event in fragments as 7.0 makes them (from its documentation and source, not from a
/// recording): its fields by size, so many into each fragment as go in; each with a token of its
/// own and `splitEvent`.
std::deque<bson::document> split_event(const oplog_entry& entry, bson::view event);

} // namespace cdc::test::standin
