// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace cdc::bson {

/// One bit for each UTF-16 code unit; see is_verbatim.
extern const std::array<std::uint64_t, 1024> verbatim_bitmap;

/// Whether the JSON writer of MongoDB's Java driver, whose texts Debezium publishes, leaves a
/// UTF-16 code unit as it is: letters (but modifier letters), numbers, blanks, punctuation and
/// symbols. All others (controls, marks, format characters, surrogates, private use, unassigned) it
/// writes as
/// \uXXXX. The quote and the backslash count as verbatim here: they have escapes of their own.
inline bool is_verbatim(char16_t unit) noexcept {
    return (verbatim_bitmap[unit / 64U] >> unit % 64U & 1U) != 0;
}

} // namespace cdc::bson
