// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"
#include "core/error/result.hpp"
#include "core/event/change_event.hpp"
#include "core/event/control_record.hpp"
#include "sources/mongodb/filters.hpp"

#include <optional>

namespace cdc::mongodb::streaming {

/// Whether `operation_type` is one that include.ddl.events makes control records of: drop, rename,
/// dropDatabase. Others (create, createIndexes, …) appear only with expanded events, which are not
/// asked for.
bool is_namespace_event(std::string_view operation_type) noexcept;

/// The control record of such an event, which `e` is decoded from `change`; nothing when it does
/// not concern what is captured: a collection's event does when its name or its new name is
/// captured, the drop of a database when it can hold captured collections (judged by the items of
/// the lists, not by what it held).
///
///     topic  <prefix>.<db>, the database in which it happened
///     key    the collection's name, empty for a database
///     type   the server's word; `to` for a rename
///
/// A rename over a collection that exists (`dropTarget`) gives this one event: the target's old
/// documents give no deletes.
///
/// Errors: bad_data for an event without the names it must have; those of the filters.
error::result<std::optional<event::control_record>> control_of(const event::change_event& e,
                                                               bson::view change, filters& f);

} // namespace cdc::mongodb::streaming
