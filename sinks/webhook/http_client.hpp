// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/log/logger.hpp"
#include "sinks/webhook/target_url.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cdc::webhook {

/// What is sent: the client adds Host, User-Agent and Content-Length. Names and values are visible
/// ASCII. The body is sent from where it lies and must stay until the answer.
struct http_request {
    std::vector<std::pair<std::string_view, std::string>> headers; ///< names: literals
    std::string_view body;
};

struct http_answer {
    unsigned status = 0;
    std::optional<std::string> retry_after; ///< the header as it is; the first of several
};

/// POSTs to one URL over HTTP/1.1, one request at a time, on a connection that is kept alive. Lives
/// on one reactor.
///
/// - A connection that the server closed while it was idle is replaced, and a request that met such
///   a close before anything of an answer came is sent again once over a new connection, without
///   that counting as a failure. After any other failure the connection is given up.
/// - Informational answers (1xx) are passed over. What a server says before it has the whole body,
///   closing the connection, is taken as its answer.
/// - An answer counts once its header is there. The body is read and dropped to keep the
///   connection; beyond 64 KiB, without a length, or when it does not come, the connection is
///   closed instead. Headers may be 16 KiB. So memory is bounded whatever the server sends.
/// - TLS: 1.2 or later; the chain and the host name are verified; ALPN http/1.1.
class http_client {
  public:
    struct limits {
        std::chrono::milliseconds connect{5000}; ///< lookup, each address, handshake: each
        std::chrono::milliseconds write{30000};
        std::chrono::milliseconds answer{30000};
    };

    http_client(boost::asio::any_io_executor reactor, target_url to, limits bounds,
                log::logger logger);
    ~http_client();
    http_client(const http_client&) = delete;
    http_client& operator=(const http_client&) = delete;

    /// Reads the authorities for https (an empty path: the system's); before the first `post`.
    /// Blocks: call it away from the reactor. Errors: configuration.
    error::result<void> trust(const std::filesystem::path& ca_file);

    /// Errors: network (connect, read, write, TLS), timeout, protocol (the answer is not HTTP/1 or
    /// its header is too large), cancelled. Their texts hold nothing that the server sent.
    boost::asio::awaitable<error::result<http_answer>> post(const http_request& request);

    /// Makes a new connection, with its TLS handshake, and sends no request. Errors as `post`.
    boost::asio::awaitable<error::result<void>> connect();

    /// Ends a pending `post` or `connect` soon; later ones return `cancelled`.
    void cancel() noexcept;
    /// Closes the connection and waits for a name lookup that is under way. No `post` is pending.
    boost::asio::awaitable<void> stop();

    /// Connections made so far.
    std::size_t connections() const noexcept;

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::webhook
