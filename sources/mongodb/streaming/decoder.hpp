// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"
#include "core/error/result.hpp"
#include "core/event/change_event.hpp"

namespace cdc::mongodb::streaming {

/// Reads one change stream document in a single pass over its top-level fields. Nothing is copied:
/// the event's views point into `change`, whose bytes must outlive it.
///
/// An operation type this program makes no records of becomes operation::other, whatever else the
/// document holds, and `invalidate` becomes operation::invalidate: new server versions bring new
/// types, and a type that is unknown must not stop a stream. Unknown fields are skipped.
///
/// What makes a document a data event is required as the server has it since 4.0: `_id` with its
/// `_data`, `clusterTime`, `ns` with database and collection, `fullDocument` of inserts and
/// replaces, `updateDescription` of updates. `fullDocument: null` of an update is an absent `after`
/// (the document was gone at the lookup). An absent `documentKey` or `documentKey._id` is an absent
/// id, not an error.
///
/// Errors: bad_data; the text names the namespace and the token as far as they were read. Documents
/// inside (after, updatedFields, …) are checked only when they are written. Thread-safe.
error::result<event::change_event> decode(bson::view change);

} // namespace cdc::mongodb::streaming
