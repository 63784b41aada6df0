// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/client_command_runner.hpp"

#include <utility>

namespace cdc::mongodb::cursor {

namespace asio = boost::asio;

client_command_runner::client_command_runner(asio::any_io_executor reactor,
                                             runtime::blocking_pool& blocking,
                                             client::client_options options, log::logger logger)
    : reactor_(std::move(reactor))
    , blocking_(blocking)
    , options_(std::move(options))
    , logger_(std::move(logger)) {}

error::diagnostics client_command_runner::given_up() const {
    if (cancelled_)
        return error::fail(error::errc::cancelled, "cancelled");
    return error::fail(error::errc::network, "the connection was given up");
}

void client_command_runner::remember_members(bson::view hello) {
    const auto hosts = bson::find(hello, "hosts");
    if (!hosts || hosts->kind() != bson::type::array)
        return;
    options_.known_members.clear();
    for (bson::cursor host{hosts->as_document()}; host.next();)
        if (host.kind() == bson::type::string)
            options_.known_members.emplace_back(host.as_string());
}

asio::awaitable<error::result<client::server_description>> client_command_runner::connect() {
    if (cancelled_)
        co_return given_up();
    const bool afresh = std::exchange(interrupted_, false) | std::exchange(failed_, false);
    if (afresh && client_) {
        const auto old = std::move(client_);
        co_await old->stop();
        if (cancelled_ || interrupted_)
            co_return given_up();
    }
    if (!client_) {
        auto options = options_;
        auto opened =
            co_await client::client::open(reactor_, blocking_, std::move(options), logger_);
        if (!opened)
            co_return std::move(opened).error();
        client_ = std::move(*opened);
        if (on_suspend_)
            client_->on_suspend(on_suspend_);
        // `open` itself cannot be cancelled.
        if (cancelled_ || interrupted_) {
            client_->cancel();
            co_return given_up();
        }
    }
    auto found = co_await client_->connect();
    if (cancelled_ || interrupted_)
        co_return given_up();
    failed_ = !found;
    if (found)
        remember_members(found->hello);
    co_return found;
}

asio::awaitable<error::result<bson::document>>
client_command_runner::command(std::string db, bson::document command) {
    if (cancelled_ || interrupted_)
        co_return given_up();
    if (!client_)
        co_return error::fail(error::errc::closed, "not connected");
    auto reply = co_await client_->command(std::move(db), std::move(command));
    if (cancelled_ || interrupted_)
        co_return given_up();
    co_return reply;
}

void client_command_runner::interrupt() noexcept {
    interrupted_ = true;
    if (client_)
        client_->cancel();
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
