// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cdc::event {

/// Debezium's schema.name.adjustment.mode: what becomes of a dotted schema name that Avro would not
/// take. Avro wants a letter or `_` first and then letters, digits, `_` and the dots between parts.
///
/// none          it stays as it is
/// avro          `_` for every character that is not allowed, and in front of a digit that is first
/// avro_unicode  `_u` and the UTF-16 code unit in hex for every such character and for `_` itself,
///               with `00` in front of one or two hex digits, as Debezium writes it
enum class name_adjustment : std::uint8_t { none, avro, avro_unicode };

/// Only the first character of the whole name counts as first, as in Debezium.
std::string adjusted(std::string_view name, name_adjustment mode);

} // namespace cdc::event
