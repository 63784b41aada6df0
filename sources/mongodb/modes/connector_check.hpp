// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/position.hpp"
#include "core/log/logger.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"
#include "sources/mongodb/filters.hpp"
#include "sources/mongodb/options.hpp"
#include "sources/mongodb/streaming/oplog_history.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace cdc::mongodb::modes {

/// Finds out by trying whether a connector of `source: mongodb` could work: the same client, the
/// same pipeline and filters, but every question once and no retries. Changes nothing on the
/// server; the cursors it opens are closed again.
///
/// What `connect` gives is needed by everything else. Each call ends by itself: connecting within
/// the limits of the connection options, a command within `longest_reply` at most. An error of kind
/// network or timeout ends the connection: the calls behind it fail too, until `connect`.
///
/// Texts of errors say what to do (resume_policy's words), the server's own text is in
/// `server_text` where it helps. Lives on one reactor; one call at a time; `stop` must have been
/// awaited before destruction.
class connector_check {
  public:
    static constexpr std::chrono::milliseconds longest_reply{10000};

    /// Opens no connection. `blocking` must outlive it. Errors: configuration.
    static error::result<std::unique_ptr<connector_check>>
    make(const connector_options& options, boost::asio::any_io_executor reactor,
         runtime::blocking_pool& blocking, log::logger logger);

    connector_check(std::unique_ptr<cursor::command_runner> runner, cursor::stream_target target,
                    filters f);

    /// Finds a server and authenticates. Errors: configuration, network, timeout, authentication.
    boost::asio::awaitable<error::result<void>> connect();

    /// The version of the server, when change streams of it can be read. Errors: unsupported; those
    /// of a command.
    boost::asio::awaitable<error::result<std::string>> version();

    /// Opens the connector's change stream from now and reads once. Errors: those of a command; for
    /// a missing right (server code 13) the text names it and on what.
    boost::asio::awaitable<error::result<void>> read_changes();

    /// How far back the oplog reaches. Errors: those of a command; server code 13 where the user
    /// may not read local.oplog.rs.
    boost::asio::awaitable<error::result<streaming::oplog_history::window>> oplog();

    /// Whether changes behind `position` can still be read. Errors: position_lost; those of a
    /// command.
    boost::asio::awaitable<error::result<void>> find_position(event::position position);

    boost::asio::awaitable<void> stop();

    /// What `connect` found.
    const client::server_description& server() const noexcept { return server_; }
    const cursor::stream_target& target() const noexcept { return target_; }

  private:
    boost::asio::awaitable<error::result<void>> read_once(cursor::database_command aggregate);

    std::unique_ptr<cursor::command_runner> runner_;
    cursor::stream_target target_;
    filters filters_;
    streaming::oplog_history history_;
    client::server_description server_;
};

} // namespace cdc::mongodb::modes
