// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/name_lookup.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

namespace cdc::webhook {

namespace asio = boost::asio;
using asio::ip::tcp;
using error::errc;
using clock = std::chrono::steady_clock;

name_lookup::name_lookup(asio::any_io_executor reactor, std::string host, std::uint16_t port,
                         log::logger logger)
    : host_(std::move(host))
    , port_(port)
    , resolver_(reactor)
    , wake_(reactor)
    , tasks_(reactor, std::move(logger)) {}

asio::awaitable<error::result<name_lookup::endpoints>>
name_lookup::find(std::chrono::milliseconds limit) {
    if (cancelled_)
        co_return error::fail(errc::cancelled, "cancelled");
    boost::system::error_code no_address;
    const auto address = asio::ip::make_address(host_, no_address);
    if (!no_address)
        co_return endpoints{tcp::endpoint(address, port_)};

    if (!running_) {
        found_.reset();
        running_ = tasks_.spawn("lookup of " + host_, run());
    }
    const auto until = clock::now() + limit;
    while (!found_ && !cancelled_) {
        const auto left = until - clock::now();
        if (left <= clock::duration::zero())
            co_return error::fail(errc::timeout, fmt::format("looking {} up took longer than {} ms",
                                                             host_, limit.count()));
        co_await wake_.wait_for(left);
    }
    if (cancelled_)
        co_return error::fail(errc::cancelled, "cancelled");
    co_return *found_;
}

asio::awaitable<void> name_lookup::run() {
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    const std::string service = std::to_string(port_);
    const auto flags = tcp::resolver::numeric_service | tcp::resolver::address_configured;
    auto [failure, results] = co_await resolver_.async_resolve(host_, service, flags, token);
    endpoints all;
    for (const auto& entry : results)
        all.push_back(entry.endpoint());
    if (failure)
        found_ =
            error::fail(errc::network, fmt::format("looking {} up: {}", host_, failure.message()));
    else if (all.empty())
        found_ = error::fail(errc::network, fmt::format("looking {} up: no address", host_));
    else
        found_ = std::move(all);
    running_ = false;
    wake_.notify();
}

void name_lookup::cancel() noexcept {
    cancelled_ = true;
    wake_.notify();
}

asio::awaitable<void> name_lookup::stop() {
    cancel();
    resolver_.cancel();
    co_await tasks_.join();
}

} // namespace cdc::webhook
