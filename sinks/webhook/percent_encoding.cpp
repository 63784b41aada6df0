// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/percent_encoding.hpp"

namespace cdc::webhook {

namespace {

constexpr bool stays(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

} // namespace

std::string percent_encode(std::string_view bytes) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        if (stays(c)) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += hex[byte >> 4];
        out += hex[byte & 15];
    }
    return out;
}

} // namespace cdc::webhook
