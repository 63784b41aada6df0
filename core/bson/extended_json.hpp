// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/json_text.hpp"
#include "core/bson/view.hpp"
#include "core/error/result.hpp"
#include "core/json/writer.hpp"

#include <cstdint>

namespace cdc::bson {

/// Which of the two ways of writing BSON types. Debezium's: strict is the Java driver's old STRICT
/// mode (`{"$numberLong": "5"}`, `{"$date": 0}`, `{"$binary": "…","$type": "00"}`), relaxed is
/// relaxed extended JSON 2 (`5`, `{"$date": "1970-01-01T00:00:00Z"}`, …).
enum class json_dialect : std::uint8_t { strict, relaxed };

/// `{"a": 1,"b": 2}` or `{"a": 1, "b": 2}`.
enum class json_spacing : std::uint8_t { compact, spaced };

struct json_format {
    json_dialect dialect;
    json_spacing spacing;
};

/// What Debezium writes by default: `before`, `after` and session ids …
inline constexpr json_format strict_compact{json_dialect::strict, json_spacing::compact};
/// … the key's `id` …
inline constexpr json_format relaxed_compact{json_dialect::relaxed, json_spacing::compact};
/// … and `updatedFields`.
inline constexpr json_format relaxed_spaced{json_dialect::relaxed, json_spacing::spaced};

/// Appends a document as one JSON text, straight from BSON in one pass: nothing is built in
/// between, nothing allocated but the output (and 1 KiB or so for each ten levels beyond the
/// sixteenth), and the depth of nesting costs no stack. Every BSON type is written, deprecated ones
/// too; fields keep their order, names may repeat.
///
/// One deviation: NaN and the infinities are always `{"$numberDouble": "NaN"}`, while the driver's
/// STRICT mode prints bare words that no JSON parser takes.
///
/// Errors: bad_data when an element is malformed; the output then ends somewhere inside, the caller
/// cuts it.
error::result<void> write_json(json::writer& out, view document, json_format format,
                               json_embedding embedding);

/// The same for the one value `element` stands at, without its name.
error::result<void> write_json(json::writer& out, const cursor& element, json_format format,
                               json_embedding embedding);

} // namespace cdc::bson
