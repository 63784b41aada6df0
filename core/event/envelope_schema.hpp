// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/event_shape.hpp"

#include <string>
#include <string_view>

namespace cdc::event {

/// Kafka Connect schemas of our records as JsonConverter writes them (property order: type, fields
/// or items, optional, name, version, parameters, default, field).

/// The whole schema object of keys, with its name.
std::string key_schema(std::string_view name);

/// The schema object of envelopes up to its name, the same for all topics; `"<name>"}` completes
/// it.
std::string envelope_schema_head(event_shape shape);

} // namespace cdc::event
