// SPDX-License-Identifier: Apache-2.0
#include "core/config/mistake.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cdc::config {

std::string mistake::text() const {
    std::string out;
    if (!key.empty())
        out += key + ": ";
    if (!value.empty())
        out += fmt::format("\"{}\" ", value);
    out += problem;
    if (!allowed.empty())
        out += "; allowed: " + allowed;
    if (!nearest.empty())
        out += fmt::format("; did you mean \"{}\"?", nearest);
    return out;
}

std::string printable(std::string_view text) {
    constexpr std::size_t longest = 80;
    std::string out;
    for (const char c : text) {
        if (out.size() >= longest) {
            // A cut must not leave half a character behind.
            while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80)
                out.pop_back();
            if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0)
                out.pop_back();
            return out + "...";
        }
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out;
}

std::string printable_key(std::string_view key) {
    constexpr std::size_t longest = 200;
    constexpr std::string_view known =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-*<";
    const std::size_t end = std::min(key.find_first_not_of(known), longest);
    if (end >= key.size())
        return std::string(key);
    return std::string(key.substr(0, end)) + "...";
}

} // namespace cdc::config
