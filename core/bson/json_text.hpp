// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/writer.hpp"

#include <cstdint>
#include <string_view>

namespace cdc::bson {

/// Where JSON text goes: as it is, or inside a string of another JSON text. Embedded text has every
/// quote and backslash escaped once more, in the same pass; the outer quotes are the caller's.
enum class json_embedding : std::uint8_t { plain, embedded };

/// Appends `text` as a JSON string with its quotes, escaped as MongoDB's Java driver does: short
/// escapes where JSON has them, \uXXXX in lower case for every UTF-16 code unit that is_verbatim
/// refuses, so for each half of every character beyond U+FFFF. What is not UTF-8 becomes U+FFFD:
/// the output is always valid JSON and never an error (the driver does the same).
template <json_embedding E>
void append_text(json::writer& out, std::string_view text);

extern template void append_text<json_embedding::plain>(json::writer&, std::string_view);
extern template void append_text<json_embedding::embedded>(json::writer&, std::string_view);

} // namespace cdc::bson
