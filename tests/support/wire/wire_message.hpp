// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/wire/wire_server.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cdc::test::wire {

/// The 16 bytes in front of every message, as in the wire protocol's description.
struct message_header {
    static constexpr std::size_t size = 16;
    static constexpr std::size_t largest_message = 48'000'000; ///< the server's maxMessageSizeBytes

    std::uint32_t length = 0; ///< of the whole message, header included
    std::uint32_t request_id = 0;
    std::uint32_t opcode = 0;

    /// Nothing when the length cannot be true.
    static std::optional<message_header> parse(std::span<const std::uint8_t, size> bytes) noexcept;
};

/// The request in `body` (what stands behind the header), or nothing when it is not a sound OP_MSG
/// or OP_QUERY: cut off, malformed BSON, unknown required flags or sections. Copies what it keeps.
std::optional<request> parse_request(const message_header& header,
                                     std::span<const std::uint8_t> body);

/// The whole reply message: OP_MSG, or OP_REPLY to a legacy request.
std::vector<std::uint8_t> encode_reply(bool legacy, std::uint32_t request_id,
                                       std::uint32_t response_to, bson::view reply);

} // namespace cdc::test::wire
