// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "core/error/result.hpp"
#include "sources/mongodb/client/client.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace cdc::mongodb::cursor {

/// What cursors need of a connection; the contract is client::client's. An interface so that what
/// stands above can be driven with scripted replies, without a socket.
class command_runner {
  public:
    virtual ~command_runner() = default;
    virtual boost::asio::awaitable<error::result<client::server_description>> connect() = 0;
    virtual boost::asio::awaitable<error::result<bson::document>>
    command(std::string db, bson::document command) = 0;
    /// Breaks off a pending call (it ends within milliseconds with an error of kind network) and
    /// gives the connection up, with all that was known of the servers' roles: commands fail until
    /// `connect`, which looks for a server afresh. May be called at any time.
    virtual void interrupt() noexcept = 0;
    virtual void cancel() noexcept = 0;
    virtual boost::asio::awaitable<void> stop() = 0;
};

} // namespace cdc::mongodb::cursor
