// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cdc::test::wire {

/// The plainest client: blocking calls on the test's own thread, for tests that must send exactly
/// the bytes they mean. Not for the service.
class client {
  public:
    /// Connects to 127.0.0.1; throws when it cannot.
    explicit client(std::uint16_t port);

    /// Sends one OP_MSG; `sequences` become kind 1 sections.
    void send(bson::view body, std::uint32_t flags = 0,
              const std::vector<std::pair<std::string, std::vector<bson::view>>>& sequences = {});
    void send_legacy(const std::string& ns, bson::view body);
    void send_bytes(std::span<const std::uint8_t> bytes);

    /// The next reply's document; nothing when the connection ended before it was whole.
    std::optional<bson::document> receive();
    /// Sends with `$db` appended and receives.
    std::optional<bson::document> command(const std::string& db, bson::view body);

    void close();

  private:
    boost::asio::io_context context_;
    boost::asio::ip::tcp::socket socket_{context_};
    std::uint32_t next_id_ = 1;
};

} // namespace cdc::test::wire
