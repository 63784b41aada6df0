// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cdc::event {

/// Whose envelope a value has: fields, their order, schema names and versions.
///
/// current  Debezium 3.x, with `source.rs`, which it no longer has
///          before, after, updateDescription, source, op, ts_ms, transaction
/// v1_8     Debezium 1.8 and 1.9
///          after, patch, filter, updateDescription, source, op, ts_ms, transaction
///          (patch and filter are null, as they are there when it reads change streams)
/// v1_4     Debezium 1.4 to 1.7, as it reads the oplog
///          after, patch, filter, source, op, ts_ms, transaction
///          An update has what changed in `patch` as an oplog entry puts it, and the document key
///          in `filter`; `after` is null. A replacement's `patch` is the new document.
enum class event_shape : std::uint8_t { current, v1_8, v1_4 };

} // namespace cdc::event
