// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace cdc::test::gate {

/// Finds where messages of MongoDB's wire protocol end in a stream of bytes. Every message begins
/// with its own length, the header of 16 bytes included, as a little-endian int32; more is not
/// looked at. Works on plain streams, not on TLS. No I/O.
class message_meter {
  public:
    /// How many of the stream's next `bytes` belong to the message that is going on, or begins with
    /// them. All of them when the stream turned out not to be MongoDB's (a length below 16).
    std::size_t of_this_message(std::span<const char> bytes) const noexcept;

    /// The stream went on by `bytes`, which must not reach beyond the message's end. Gives the
    /// message's length when that was its end.
    std::optional<std::size_t> pass(std::span<const char> bytes) noexcept;

    /// Bytes of the message passed so far; 0 at a boundary.
    std::size_t in_message() const noexcept { return passed_; }

  private:
    static constexpr std::size_t length_bytes = 4;
    static constexpr std::size_t header_bytes = 16;

    /// The message's length, as soon as its first bytes are known.
    std::optional<std::size_t> length_with(std::span<const char> bytes) const noexcept;

    std::array<unsigned char, length_bytes> begin_{};
    std::size_t passed_ = 0;
    bool foreign_ = false;
};

} // namespace cdc::test::gate
