// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cdc::json {

/// One scalar value read from UTF-8 text.
struct utf8_scalar {
    char32_t value;     ///< U+FFFD when the bytes are not valid UTF-8
    std::uint32_t size; ///< bytes to step over, at least 1
    bool valid;
};

/// Reads the scalar value at `at`; `at < end`. What is not UTF-8 (stray bytes, overlong forms,
/// surrogates, values beyond U+10FFFF, a cut sequence) counts as one U+FFFD for each longest prefix
/// of a valid sequence, as the Unicode standard recommends and Java's decoder does.
utf8_scalar read_utf8(const char* at, const char* end) noexcept;

} // namespace cdc::json
