// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/value.hpp"

namespace cdc::test::standin {

bool is_number(bson::type kind) noexcept;

/// $inc: int32 grows to int64 when it must; throws server_error 2 when int64 is too small, and for
/// decimals, which the stand-in does not calculate with. Both must be numbers.
value add(const value& a, const value& b);
/// $mul, same rules.
value multiply(const value& a, const value& b);

} // namespace cdc::test::standin
