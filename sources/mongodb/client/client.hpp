// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "core/error/result.hpp"
#include "core/log/logger.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cdc::runtime {
class blocking_pool;
}

namespace cdc::mongodb::client {

/// How a client reaches its deployment. Durations of 0 are refused by `open` where a limit is
/// needed.
struct client_options {
    /// mongodb:// or mongodb+srv://, with credentials and TLS options. A secret.
    std::string uri;
    /// Used when the URI has no user of its own (already decoded, any characters).
    std::string user;
    std::string password; ///< a secret
    std::string auth_source = "admin";
    std::string app_name = "mongocdc";
    std::chrono::milliseconds connect_timeout{2000};
    std::chrono::milliseconds server_selection_timeout{30000};
    /// Longest silence while a reply is expected; must exceed the server's waiting time of a
    /// getMore.
    std::chrono::milliseconds socket_timeout{60000};
    /// Where libmongoc's blocking code runs. `fiber`: on a stack of its own, suspended while it
    /// waits, on the client's reactor. `thread`: on the blocking pool, for mechanisms that block
    /// outside the sockets (GSSAPI, AWS, OIDC), and as the control in tests and benchmarks.
    enum class runner_kind { fiber, thread };
    runner_kind runner = runner_kind::fiber;
    /// Stay on the one host of the URI, whatever its role, as directConnection=true in it says.
    /// Without it (and without that option) the members of the set are found and the primary used.
    bool stay_on_host = false;
    /// Members ("host:port") that are asked too when a server is looked for, because the hosts of
    /// the URI alone may be gone. No effect with an SRV name or when staying on one host.
    std::vector<std::string> known_members;
};

/// The server that `connect` found and that later commands go to.
struct server_description {
    bson::document hello;    ///< its hello or isMaster reply
    std::string host;        ///< host:port
    std::string set_name;    ///< empty for a standalone server and for mongos
    std::string server_type; ///< libmongoc's word: RSPrimary, RSSecondary, Standalone, Mongos, …
    std::int32_t max_wire_version = 0;
    bson::document session; ///< the client's session there, as commands carry it in `lsid`
};

/// One connection to one deployment: libmongoc's single-threaded client behind awaitable calls.
///
/// Lives on one reactor: every call, `cancel` included, comes from it. One call at a time
/// (asserted). `stop` must have been awaited before destruction (asserted). Never retries a
/// command; that is decided above. After an error of kind network or timeout the connection is
/// gone: wait at least 500 ms, then `connect` again (which finds a new primary).
class client {
  public:
    /// Checks the URI and options, resolves an SRV name (on the blocking pool), opens no
    /// connection. Errors: configuration (the text never shows the URI), network for an SRV name
    /// that does not resolve.
    static boost::asio::awaitable<error::result<std::unique_ptr<client>>>
    open(boost::asio::any_io_executor reactor, runtime::blocking_pool& blocking,
         client_options options, log::logger logger);

    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    /// Finds a server (the primary, or the given host with directConnection), authenticates and
    /// starts the client's one session. Replaces the session and the server of an earlier call.
    /// Errors: network, timeout, authentication (server code 18), server, cancelled.
    boost::asio::awaitable<error::result<server_description>> connect();

    /// Runs one command in the client's session on the connected server and gives the whole reply.
    /// `command` needs no lsid, $db or $clusterTime. A reply with ok:0 is an error of kind server
    /// with code, labels and text. Errors: network, timeout, server, protocol, cancelled, closed
    /// before `connect`.
    boost::asio::awaitable<error::result<bson::document>> command(std::string db,
                                                                  bson::document command);

    /// Ends a pending call within milliseconds with `cancelled`; the client can only be stopped
    /// afterwards. May be called at any time, also during `stop`.
    void cancel() noexcept;

    /// Closes connections and frees the client; ends the session on the server unless the client
    /// was cancelled or its connection is broken. Must not overlap a call: cancel it and await it
    /// first.
    boost::asio::awaitable<void> stop();

    /// For tests that enumerate suspension points: `hook` is called with a running number whenever
    /// the driver's stack is about to be suspended; it may call `cancel`. No effect with threads.
    void on_suspend(std::function<void(std::size_t)> hook);

  private:
    struct impl;
    explicit client(std::unique_ptr<impl> i);
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::mongodb::client
