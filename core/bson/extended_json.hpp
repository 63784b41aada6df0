// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/json_text.hpp"
#include "core/bson/view.hpp"
#include "core/error/result.hpp"
#include "core/json/writer.hpp"

#include <cstdint>

namespace cdc::bson {

/// How BSON types are written (the MongoDB Java driver's output modes) and how elements are set
/// apart
/// (`{"a": 1,"b": 2}` compact, `{"a": 1, "b": 2}` spaced), in the combinations that Debezium uses.
enum class json_format : std::uint8_t {
    /// The driver's old STRICT mode: `{"$numberLong": "5"}`, `{"$date": 0}`,
    /// `{"$binary": "…","$type": "00"}`; but `{"$numberDouble": "NaN"}` where it prints a bare
    /// word.
    strict_compact,
    /// The same with the bare words NaN, Infinity and -Infinity, which no JSON parser takes.
    strict_bare_compact,
    /// Canonical extended JSON 2: `{"$numberInt": "5"}`, `{"$date": {"$numberLong": "0"}}`, …
    extended_compact,
    /// Relaxed extended JSON 2: `5`, `{"$date": "1970-01-01T00:00:00Z"}`, …
    relaxed_compact,
    relaxed_spaced,
};

/// Appends a document as one JSON text, straight from BSON in one pass: nothing is built in
/// between, nothing allocated but the output (and 1 KiB or so for each ten levels beyond the
/// sixteenth), and the depth of nesting costs no stack. Every BSON type is written, deprecated ones
/// too; fields keep their order, names may repeat.
///
/// Errors: bad_data when an element is malformed; the output then ends somewhere inside, the caller
/// cuts it.
error::result<void> write_json(json::writer& out, view document, json_format format,
                               json_embedding embedding);

/// The same for the one value `element` stands at, without its name.
error::result<void> write_json(json::writer& out, const cursor& element, json_format format,
                               json_embedding embedding);

} // namespace cdc::bson
