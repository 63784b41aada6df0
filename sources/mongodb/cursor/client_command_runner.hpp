// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/logger.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace cdc::mongodb::cursor {

/// A command_runner over a client of its own, which the first `connect` opens (so that an SRV name
/// that does not resolve is an error like any other, and can be tried again).
/// Lives on one reactor; `stop` must have been awaited before destruction.
class client_command_runner final : public command_runner {
  public:
    client_command_runner(boost::asio::any_io_executor reactor, runtime::blocking_pool& blocking,
                          client::client_options options, log::logger logger);

    boost::asio::awaitable<error::result<client::server_description>> connect() override;
    boost::asio::awaitable<error::result<bson::document>> command(std::string db,
                                                                  bson::document command) override;
    void cancel() noexcept override;
    boost::asio::awaitable<void> stop() override;

  private:
    boost::asio::any_io_executor reactor_;
    runtime::blocking_pool& blocking_;
    client::client_options options_;
    log::logger logger_;
    std::unique_ptr<client::client> client_;
    bool cancelled_ = false;
};

} // namespace cdc::mongodb::cursor
