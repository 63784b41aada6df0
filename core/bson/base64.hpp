// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cdc::bson {

/// Size of the base64 text of `size` bytes, padding included.
constexpr std::size_t base64_size(std::size_t size) noexcept {
    return (size + 2) / 3 * 4;
}

/// Writes the text of `bytes` (standard alphabet, padded) and returns its end. `to` has room for
/// base64_size(bytes.size()) + 1 bytes: the last one is scratch space.
char* write_base64(char* to, std::span<const std::uint8_t> bytes) noexcept;

/// The bytes of a text as write_base64 writes it; nothing for any other text.
std::optional<std::vector<std::uint8_t>> read_base64(std::string_view text);

} // namespace cdc::bson
