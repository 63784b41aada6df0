// SPDX-License-Identifier: Apache-2.0
#include "core/json/utf8.hpp"

namespace cdc::json {

namespace {

constexpr char32_t replacement = 0xfffd;

} // namespace

utf8_scalar read_utf8(const char* at, const char* end) noexcept {
    const auto byte = [at](std::uint32_t i) { return static_cast<std::uint8_t>(at[i]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80)
        return {lead, 1, true};

    // The second byte's range is narrower for some lead bytes: that excludes overlong forms,
    // surrogates and values beyond U+10FFFF.
    std::uint32_t length;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xbf;
    char32_t value;
    if (lead >= 0xc2 && lead <= 0xdf) {
        length = 2;
        value = lead & 0x1fU;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        length = 3;
        value = lead & 0x0fU;
        if (lead == 0xe0)
            low = 0xa0;
        else if (lead == 0xed)
            high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        length = 4;
        value = lead & 0x07U;
        if (lead == 0xf0)
            low = 0x90;
        else if (lead == 0xf4)
            high = 0x8f;
    } else {
        return {replacement, 1, false};
    }
    const auto room = static_cast<std::uint64_t>(end - at);
    for (std::uint32_t i = 1; i < length; ++i) {
        if (i >= room || byte(i) < low || byte(i) > high)
            return {replacement, i, false};
        value = value << 6 | (byte(i) & 0x3fU);
        low = 0x80;
        high = 0xbf;
    }
    return {value, length, true};
}

} // namespace cdc::json
