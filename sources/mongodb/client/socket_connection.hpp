// SPDX-License-Identifier: Apache-2.0
// Shared by the two kinds of connection; included by their sources only.
#pragma once

#include "sources/mongodb/client/connection.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cdc::mongodb::client {

/// Resolving, connecting, read-ahead and the end of a connection, over a socket that the derived
/// class owns.
class socket_connection : public connection {
  public:
    void close() noexcept override;

  protected:
    using tcp = boost::asio::ip::tcp;

    socket_connection(boost::asio::any_io_executor reactor, target to,
                      std::function<void()> changed, std::size_t read_ahead);
    ~socket_connection() override;

    virtual tcp::socket& socket() noexcept = 0;

    /// Resolves and connects. False when failed or closed meanwhile.
    boost::asio::awaitable<bool> connect_socket();
    void fail(const boost::system::error_code& ec, const char* during);
    /// The last statement of every completion handler.
    void changed();

    bool buffered() const noexcept { return taken_ < filled_; }
    std::size_t take_buffered(std::span<std::uint8_t> into) noexcept;
    /// What `read` does without asking the socket, or nothing.
    std::optional<outcome> read_known(std::span<std::uint8_t> into) noexcept;

    boost::asio::any_io_executor reactor_;
    target target_;
    std::vector<std::uint8_t> buffer_; ///< read ahead
    std::size_t taken_ = 0;
    std::size_t filled_ = 0;
    bool end_ = false;

  private:
    struct resolution;
    void set_socket_options();

    std::function<void()> changed_;
    std::shared_ptr<resolution> resolving_;
};

} // namespace cdc::mongodb::client
