// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/oplog.hpp"

#include <cstddef>
#include <optional>

namespace cdc::test::standin {

/// Whether an entry gives an event at all (a create or a noop does not).
bool has_event(const oplog_entry& entry) noexcept;

/// The event of an entry, fields in the server's order. `modern`: as 6.0 and later write it, with
/// wallTime and truncatedArrays (from the server's documentation, not from a recording).
/// `looked_up` is the document for updateLookup: nothing when no lookup was asked for, nullptr
/// inside when the document is gone.
bson::document make_event(const oplog_entry& entry, bool modern,
                          std::optional<const bson::document*> looked_up);

bson::document make_invalidate(const oplog_entry& entry, bool modern);

/// An insert's event whose document has one more field, `pad`, a string of so many bytes.
bson::document pad(bson::view event, std::size_t bytes);

} // namespace cdc::test::standin
