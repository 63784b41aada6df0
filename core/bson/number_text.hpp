// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"

#include <cstddef>
#include <cstdint>

namespace cdc::bson {

/// Longest text of the writers below, in bytes.
inline constexpr std::size_t max_number_text = 48;

/// Writes a finite double as Java's Double.toString (JDK 19 and later) prints it and returns the
/// end: the shortest digits that read back to the same value, at least two, the nearest ones when
/// two are more than needed; plain from 0.001 up to 10^7, scientific (`1.0E10`, `4.9E-324`)
/// outside. `to` has room for max_number_text bytes.
char* write_double(char* to, double finite) noexcept;

/// Writes a decimal128 as IEEE 754 and Java's Decimal128.toString have it and returns the end:
/// trailing zeros and the sign of zero kept, scientific (`1E+3`, `1E-7`) when the exponent is
/// positive or the first digit lies below 10^-6; `NaN`, `Infinity`, `-Infinity`.
char* write_decimal128(char* to, cursor::decimal128_value value) noexcept;

/// Writes milliseconds since 1970 as ISO 8601 in UTC with as few fraction digits as hold them
/// (`2017-10-19T00:00:00.5Z`) and returns the end. The year must lie in 0…9999.
char* write_iso_date(char* to, std::int64_t ms) noexcept;

} // namespace cdc::bson
