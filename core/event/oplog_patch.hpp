// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "core/error/result.hpp"
#include "core/event/change_event.hpp"

namespace cdc::event {

/// What the oplog entry of an update by operators has as its `o` up to MongoDB 4.4, made from the
/// change stream's description: `{$v: 1, $set: {…}, $unset: {…: true}}`. A shortened array, which
/// such an entry cannot tell, becomes `$push: {…: {$each: [], $slice: n}}`, which does the same.
/// Errors: bad_data when the description is malformed, naming the part.
error::result<bson::document> oplog_patch(const change_event::update_description& update);

} // namespace cdc::event
