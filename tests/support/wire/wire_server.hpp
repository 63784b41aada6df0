// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace cdc::runtime {
class reactor;
}

namespace cdc::test::wire {

/// One request as a MongoDB driver sends it.
struct request {
    bool legacy = false;       ///< OP_QUERY (the first hello of a connection), else OP_MSG
    std::string db;            ///< OP_MSG: `$db`; OP_QUERY: the part before `.$cmd`
    std::string command;       ///< name of the first element
    bson::document body;       ///< document sequences (kind 1 sections) merged in as arrays
    bool more_to_come = false; ///< no reply may be sent
};

/// What to do with a request.
struct answer {
    std::optional<bson::document>
        reply; ///< nothing: close the connection (or no reply, when moreToCome)
    /// Send only this many bytes of the reply, then close. For faults.
    std::optional<std::size_t> cut_after;
    bool reset = false; ///< close with RST instead of FIN
};

/// Per-connection behaviour; one object per accepted connection, used from the server's reactor
/// only.
class session {
  public:
    virtual ~session() = default;
    /// Answers one request; requests of one connection come one after another. It may suspend (a
    /// waiting getMore); `closed` is called when the peer goes away or the server stops meanwhile.
    virtual boost::asio::awaitable<answer> handle(request r) = 0;
    /// The peer is gone: end a suspended `handle` soon.
    virtual void closed() noexcept {}
};

struct tls_options {
    std::string certificate_and_key_pem; ///< path; empty: no TLS
    std::string client_ca_pem;           ///< path; set: client certificates are demanded
};

/// Speaks OP_MSG and the OP_QUERY hello on 127.0.0.1; knows nothing about commands. Runs on its own
/// thread or on a reactor that several servers share. No compression, checksums are accepted and
/// not sent.
class server {
  public:
    using factory = std::function<std::unique_ptr<session>(boost::asio::any_io_executor reactor)>;

    /// Listens at once; port 0 takes a free one. Throws when it cannot.
    server(factory make_session, std::uint16_t port = 0, tls_options tls = {});
    /// The same on `shared`, which outlives it.
    server(runtime::reactor& shared, factory make_session, std::uint16_t port = 0,
           tls_options tls = {});
    /// Closes all connections and waits until they ended; never from the reactor's thread.
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    std::uint16_t port() const noexcept;
    std::string host_port() const; ///< "127.0.0.1:port"
    boost::asio::any_io_executor executor() const noexcept;

    /// Connections accepted so far; connections open now.
    std::size_t accepted() const noexcept;
    std::size_t open_connections() const noexcept;
    /// Closes (resets) every connection now; goes on accepting. From any thread.
    void drop_connections();

    /// Refuses connections from now on and closes those there are, with RST when asked. The port
    /// stays taken. On the reactor's thread.
    void stop_listening(bool reset);
    /// Accepts again, on the same port. On the reactor's thread. Throws when it cannot.
    void listen_again();

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::test::wire
