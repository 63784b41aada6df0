// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/record.hpp"

#include <string>
#include <string_view>

namespace cdc::file {

/// What every line of the file begins with; how a torn line is known to be ours.
inline constexpr std::string_view line_begin = R"({"topic":")";

/// Appends one line, newline included:
///     {"topic":"…","key":{…},"value":{…}|null,"headers":[]}
/// Key and value are JSON texts and become nested JSON as they are, without being read again; a
/// newline in them (white space there, in JSON) becomes a blank so that a record stays one line. An
/// empty key is written as null.
void append_line(std::string& out, const event::record& r);

} // namespace cdc::file
