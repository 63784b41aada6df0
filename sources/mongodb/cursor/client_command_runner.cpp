// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/client_command_runner.hpp"

namespace cdc::mongodb::cursor {

namespace asio = boost::asio;

client_command_runner::client_command_runner(asio::any_io_executor reactor,
                                             runtime::blocking_pool& blocking,
                                             client::client_options options, log::logger logger)
    : reactor_(std::move(reactor))
    , blocking_(blocking)
    , options_(std::move(options))
    , logger_(std::move(logger)) {}

asio::awaitable<error::result<client::server_description>> client_command_runner::connect() {
    if (cancelled_)
        co_return error::fail(error::errc::cancelled, "cancelled");
    if (!client_) {
        auto options = options_;
        auto opened =
            co_await client::client::open(reactor_, blocking_, std::move(options), logger_);
        if (!opened)
            co_return std::move(opened).error();
        client_ = std::move(*opened);
        // `open` itself cannot be cancelled.
        if (cancelled_)
            co_return error::fail(error::errc::cancelled, "cancelled");
    }
    co_return co_await client_->connect();
}

asio::awaitable<error::result<bson::document>>
client_command_runner::command(std::string db, bson::document command) {
    if (cancelled_)
        co_return error::fail(error::errc::cancelled, "cancelled");
    if (!client_)
        co_return error::fail(error::errc::closed, "not connected");
    co_return co_await client_->command(std::move(db), std::move(command));
}

void client_command_runner::cancel() noexcept {
    cancelled_ = true;
    if (client_)
        client_->cancel();
}

asio::awaitable<void> client_command_runner::stop() {
    cancelled_ = true;
    if (client_)
        co_await client_->stop();
}

} // namespace cdc::mongodb::cursor
