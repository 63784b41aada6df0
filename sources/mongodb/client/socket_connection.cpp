// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/socket_connection.hpp"

#include "core/runtime/wake_slot.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cdc::mongodb::client {

namespace asio = boost::asio;
using boost::system::error_code;

/// A name lookup that may outlive who asked: getaddrinfo cannot be interrupted, so nobody waits for
/// it after a close.
struct socket_connection::resolution {
    explicit resolution(const asio::any_io_executor& reactor)
        : resolver(reactor)
        , slot(reactor) {}
    tcp::resolver resolver;
    runtime::wake_slot slot;
    tcp::resolver::results_type results;
    error_code error;
    bool done = false;
};

socket_connection::socket_connection(asio::any_io_executor reactor, target to,
                                     std::function<void()> changed, std::size_t read_ahead)
    : reactor_(std::move(reactor))
    , target_(std::move(to))
    , buffer_(read_ahead)
    , changed_(std::move(changed)) {}

socket_connection::~socket_connection() = default;

asio::awaitable<bool> socket_connection::connect_socket() {
    error_code ec;
    const auto literal = asio::ip::make_address(target_.host, ec);
    std::vector<tcp::endpoint> endpoints;
    if (!ec) {
        endpoints.emplace_back(literal, target_.port);
    } else {
        resolving_ = std::make_shared<resolution>(reactor_);
        resolving_->resolver.async_resolve(
            target_.host, std::to_string(target_.port),
            [r = resolving_](error_code e, tcp::resolver::results_type found) {
                r->error = e;
                r->results = std::move(found);
                r->done = true;
                r->slot.notify();
            });
        const auto pending = resolving_;
        while (!pending->done && state_ == state::opening)
            co_await pending->slot.wait();
        if (state_ != state::opening)
            co_return false;
        if (pending->error) {
            fail(pending->error, "name lookup");
            co_return false;
        }
        for (const auto& entry : pending->results)
            endpoints.push_back(entry.endpoint());
    }
    error_code connect_error;
    auto token = asio::redirect_error(asio::use_awaitable, connect_error);
    co_await asio::async_connect(socket(), endpoints, token);
    if (state_ != state::opening)
        co_return false;
    if (connect_error) {
        fail(connect_error, "connect");
        co_return false;
    }
    set_socket_options();
    co_return true;
}

void socket_connection::fail(const error_code& ec, const char* during) {
    if (state_ == state::closed || state_ == state::failed)
        return;
    state_ = state::failed;
    error_number_ = ec.category() == boost::system::system_category() ? ec.value() : ECONNRESET;
    failure_ =
        target_.host + ":" + std::to_string(target_.port) + ": " + during + ": " + ec.message();
}

void socket_connection::changed() {
    if (state_ != state::closed && changed_)
        changed_();
}

void socket_connection::close() noexcept {
    if (state_ == state::closed)
        return;
    state_ = state::closed;
    error_code ignored;
    socket().close(ignored);
    if (resolving_)
        resolving_->slot.notify();
    // changed_ stays: it may be what is running right now.
}

std::size_t socket_connection::take_buffered(std::span<std::uint8_t> into) noexcept {
    const std::size_t n = std::min(into.size(), filled_ - taken_);
    std::memcpy(into.data(), buffer_.data() + taken_, n);
    taken_ += n;
    return n;
}

std::optional<connection::outcome>
socket_connection::read_known(std::span<std::uint8_t> into) noexcept {
    if (buffered())
        return outcome{outcome::kind::done, take_buffered(into)};
    if (end_)
        return outcome{outcome::kind::end};
    if (state_ != state::open)
        return outcome{outcome::kind::failed};
    return std::nullopt;
}

void socket_connection::set_socket_options() {
    error_code ignored;
    socket().non_blocking(true, ignored);
    socket().set_option(tcp::no_delay(true), ignored);
    socket().set_option(asio::socket_base::keep_alive(true), ignored);
    // libmongoc's own values: a dead peer without traffic is noticed within four minutes.
    const int fd = socket().native_handle();
    const int idle = 120, interval = 10, count = 9;
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

} // namespace cdc::mongodb::client
