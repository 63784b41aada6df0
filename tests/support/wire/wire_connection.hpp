// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/wake_slot.hpp"
#include "tests/support/wire/wire_message.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <deque>
#include <memory>

namespace cdc::test::wire {

/// One accepted connection: reads requests ahead (so that it notices when the peer goes while one
/// is being handled) and answers them one after another. On the server's reactor only.
class connection : public std::enable_shared_from_this<connection> {
  public:
    virtual ~connection() = default;
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// A plain connection, or one that begins with a TLS handshake when `tls` is given.
    static std::shared_ptr<connection> make(boost::asio::ip::tcp::socket socket,
                                            boost::asio::ssl::context* tls,
                                            std::unique_ptr<session> behaviour);

    /// Reads, handles and answers until the connection ends; returns when all of it has ended.
    boost::asio::awaitable<void> run();

    /// Closes the socket now, with RST when asked; `run` ends soon after.
    void close(bool reset) noexcept;

  protected:
    connection(boost::asio::any_io_executor reactor, std::unique_ptr<session> behaviour);

    virtual boost::asio::awaitable<bool> handshake() = 0;
    /// Fills the buffer or tells false.
    virtual boost::asio::awaitable<bool> read(std::span<std::uint8_t> into) = 0;
    virtual boost::asio::awaitable<bool> write(std::span<const std::uint8_t> from) = 0;
    virtual boost::asio::ip::tcp::socket& socket() noexcept = 0;

  private:
    struct pending {
        std::uint32_t id;
        wire::request request;
        std::size_t bytes;
    };

    boost::asio::awaitable<void> read_requests();
    boost::asio::awaitable<void> handle_requests();
    boost::asio::awaitable<bool> answer_one(pending p);
    void input_ended() noexcept;

    std::unique_ptr<session> session_;
    runtime::wake_slot to_handler_;
    runtime::wake_slot to_reader_;
    runtime::wake_slot reader_done_;
    std::deque<pending> queue_;
    std::size_t queued_bytes_ = 0;
    std::uint32_t next_id_ = 1;
    bool input_ended_ = false;
    bool reading_ = false;
};

} // namespace cdc::test::wire
