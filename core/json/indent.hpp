// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cdc::json {

/// Appends valid JSON text with line breaks and two blanks a level, for people. Values stay byte
/// for byte as they are; empty objects and arrays stay on one line. No line break at the end.
void append_indented(std::string& out, std::string_view json);

} // namespace cdc::json
