// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/logger.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace cdc::mongodb::cursor {

/// A command_runner over a client of its own, which the first `connect` opens (so that an SRV name
/// that does not resolve is an error like any other, and can be tried again), and again the first
/// one behind an `interrupt` or a `connect` that failed (a client does not ask a member again for
/// five seconds after that); the new client also asks the members that the old one found. With a
/// client on threads an interrupted call ends with the server's answer or the socket timeout.
/// Lives on one reactor; `stop` must have been awaited before destruction.
class client_command_runner final : public command_runner {
  public:
    client_command_runner(boost::asio::any_io_executor reactor, runtime::blocking_pool& blocking,
                          client::client_options options, log::logger logger);

    boost::asio::awaitable<error::result<client::server_description>> connect() override;
    boost::asio::awaitable<error::result<bson::document>> command(std::string db,
                                                                  bson::document command) override;
    void interrupt() noexcept override;
    void cancel() noexcept override;
    boost::asio::awaitable<void> stop() override;

    /// For tests: client::on_suspend of the clients that are opened from now on.
    void on_suspend(std::function<void(std::size_t)> hook) { on_suspend_ = std::move(hook); }

  private:
    error::diagnostics given_up() const;
    void remember_members(bson::view hello);

    boost::asio::any_io_executor reactor_;
    runtime::blocking_pool& blocking_;
    client::client_options options_;
    log::logger logger_;
    std::unique_ptr<client::client> client_;
    std::function<void(std::size_t)> on_suspend_;
    bool interrupted_ = false; ///< `client_` can only be stopped
    bool failed_ = false;      ///< its last `connect`
    bool cancelled_ = false;
};

} // namespace cdc::mongodb::cursor
