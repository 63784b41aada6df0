// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wire/wire_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cstdio>
#include <exception>

namespace cdc::test::wire {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto as_values = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t most_bytes_read_ahead = 64U << 20U;
constexpr std::size_t most_requests_read_ahead = 64;

template <class Stream>
asio::awaitable<bool> read_all(Stream& stream, std::span<std::uint8_t> into) {
    const asio::mutable_buffer buffer(into.data(), into.size());
    const auto [failure, size] = co_await asio::async_read(stream, buffer, as_values);
    co_return !failure && size == into.size();
}

template <class Stream>
asio::awaitable<bool> write_all(Stream& stream, std::span<const std::uint8_t> from) {
    const asio::const_buffer buffer(from.data(), from.size());
    const auto [failure, size] = co_await asio::async_write(stream, buffer, as_values);
    co_return !failure && size == from.size();
}

class plain_connection final : public connection {
  public:
    plain_connection(tcp::socket socket, std::unique_ptr<session> behaviour)
        : connection(socket.get_executor(), std::move(behaviour))
        , socket_(std::move(socket)) {}

  private:
    asio::awaitable<bool> handshake() override { co_return true; }
    asio::awaitable<bool> read(std::span<std::uint8_t> into) override {
        return read_all(socket_, into);
    }
    asio::awaitable<bool> write(std::span<const std::uint8_t> from) override {
        return write_all(socket_, from);
    }
    tcp::socket& socket() noexcept override { return socket_; }

    tcp::socket socket_;
};

class tls_connection final : public connection {
  public:
    tls_connection(tcp::socket socket, asio::ssl::context& context,
                   std::unique_ptr<session> behaviour)
        : connection(socket.get_executor(), std::move(behaviour))
        , stream_(std::move(socket), context) {}

  private:
    asio::awaitable<bool> handshake() override {
        const auto [failure] =
            co_await stream_.async_handshake(asio::ssl::stream_base::server, as_values);
        co_return !failure;
    }
    asio::awaitable<bool> read(std::span<std::uint8_t> into) override {
        return read_all(stream_, into);
    }
    asio::awaitable<bool> write(std::span<const std::uint8_t> from) override {
        return write_all(stream_, from);
    }
    tcp::socket& socket() noexcept override { return stream_.next_layer(); }

    asio::ssl::stream<tcp::socket> stream_;
};

} // namespace

connection::connection(asio::any_io_executor reactor, std::unique_ptr<session> behaviour)
    : session_(std::move(behaviour))
    , to_handler_(reactor)
    , to_reader_(reactor)
    , reader_done_(reactor) {}

std::shared_ptr<connection> connection::make(tcp::socket socket, asio::ssl::context* tls,
                                             std::unique_ptr<session> behaviour) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (tls != nullptr)
        return std::make_shared<tls_connection>(std::move(socket), *tls, std::move(behaviour));
    return std::make_shared<plain_connection>(std::move(socket), std::move(behaviour));
}

asio::awaitable<void> connection::run() {
    const auto self = shared_from_this();
    const bool ready = co_await handshake();
    if (ready) {
        reading_ = true;
        asio::co_spawn(socket().get_executor(), read_requests(), asio::detached);
        co_await handle_requests();
    }
    close(false);
    while (reading_)
        co_await reader_done_.wait();
}

void connection::close(bool reset) noexcept {
    boost::system::error_code ignored;
    if (reset)
        socket().set_option(asio::socket_base::linger(true, 0), ignored);
    socket().close(ignored);
    input_ended();
}

void connection::input_ended() noexcept {
    if (std::exchange(input_ended_, true))
        return;
    session_->closed();
    to_handler_.notify();
    to_reader_.notify();
}

asio::awaitable<void> connection::read_requests() {
    const auto self = shared_from_this();
    std::vector<std::uint8_t> body;
    while (!input_ended_) {
        std::array<std::uint8_t, message_header::size> head{};
        const bool got_head = co_await read(head);
        if (!got_head)
            break;
        const auto header = message_header::parse(head);
        if (!header)
            break;
        body.resize(header->length - message_header::size);
        const bool got_body = co_await read(body);
        if (!got_body)
            break;
        auto request = parse_request(*header, body);
        if (!request)
            break;
        queued_bytes_ += body.size();
        queue_.push_back({header->request_id, std::move(*request), body.size()});
        to_handler_.notify();
        while (!input_ended_ &&
               (queued_bytes_ > most_bytes_read_ahead || queue_.size() >= most_requests_read_ahead))
            co_await to_reader_.wait();
    }
    // What was read before the peer closed is still answered; garbage is not.
    input_ended();
    reading_ = false;
    reader_done_.notify();
}

asio::awaitable<void> connection::handle_requests() {
    while (true) {
        if (!socket().is_open())
            co_return;
        if (queue_.empty()) {
            if (input_ended_)
                co_return;
            co_await to_handler_.wait();
            continue;
        }
        pending p = std::move(queue_.front());
        queue_.pop_front();
        queued_bytes_ -= p.bytes;
        to_reader_.notify();
        auto work = answer_one(std::move(p));
        const bool go_on = co_await std::move(work);
        if (!go_on)
            co_return;
    }
}

asio::awaitable<bool> connection::answer_one(pending p) {
    const bool legacy = p.request.legacy;
    const bool silent = p.request.more_to_come;
    answer a;
    try {
        auto handling = session_->handle(std::move(p.request));
        a = co_await std::move(handling);
    } catch (const std::exception& e) {
        // A fault of the test's behaviour: shown, and the client is not left waiting.
        std::fprintf(stderr, "wire server: %s\n", e.what());
        close(true);
        co_return false;
    }
    if (!a.reply) {
        if (silent && !a.reset)
            co_return true;
        close(a.reset);
        co_return false;
    }
    if (!silent) {
        const auto bytes = encode_reply(legacy, next_id_++, p.id, *a.reply);
        const std::size_t size = std::min(bytes.size(), a.cut_after.value_or(bytes.size()));
        const bool written = co_await write(std::span(bytes).first(size));
        if (!written)
            co_return false;
    }
    if (a.cut_after || a.reset) {
        close(a.reset);
        co_return false;
    }
    co_return true;
}

} // namespace cdc::test::wire
