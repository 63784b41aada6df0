// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/connection.hpp"

#include "core/runtime/wake_slot.hpp"
#include "sources/mongodb/client/handshake_limit.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace cdc::mongodb::client {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// Small enough that a reply of some ten kilobytes is not copied twice: only what surrounds the
/// length prefix goes through it.
constexpr std::size_t plain_read_ahead = 4 * 1024;
/// A TLS record is 16 KiB, and its bytes pass through a buffer in any case.
constexpr std::size_t tls_read_ahead = 20 * 1024;

/// A name lookup that may outlive who asked: getaddrinfo cannot be interrupted, so nobody waits for
/// it after a close.
struct resolution {
    explicit resolution(const asio::any_io_executor& reactor)
        : resolver(reactor)
        , slot(reactor) {}
    tcp::resolver resolver;
    runtime::wake_slot slot;
    tcp::resolver::results_type results;
    error_code error;
    bool done = false;
};

class connection_base : public connection {
  public:
    connection_base(asio::any_io_executor reactor, target to, std::function<void()> changed)
        : reactor_(std::move(reactor))
        , target_(std::move(to))
        , changed_(std::move(changed))
        , buffer_(target_.tls ? tls_read_ahead : plain_read_ahead) {}

  protected:
    virtual tcp::socket& socket() noexcept = 0;

    /// Resolves and connects. False when failed or closed meanwhile.
    asio::awaitable<bool> connect_socket() {
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

    void fail(const error_code& ec, const char* during) {
        if (state_ == state::closed || state_ == state::failed)
            return;
        state_ = state::failed;
        error_number_ = ec.category() == boost::system::system_category() ? ec.value() : ECONNRESET;
        failure_ =
            target_.host + ":" + std::to_string(target_.port) + ": " + during + ": " + ec.message();
    }

    /// The last statement of every completion handler.
    void changed() {
        if (state_ != state::closed && changed_)
            changed_();
    }

    void close_socket() noexcept {
        if (state_ == state::closed)
            return;
        state_ = state::closed;
        error_code ignored;
        socket().close(ignored);
        if (resolving_)
            resolving_->slot.notify();
        // changed_ stays: it may be what is running right now.
    }

    std::size_t take_buffered(std::span<std::uint8_t> into) noexcept {
        const std::size_t n = std::min(into.size(), filled_ - taken_);
        std::memcpy(into.data(), buffer_.data() + taken_, n);
        taken_ += n;
        return n;
    }
    bool buffered() const noexcept { return taken_ < filled_; }

    asio::any_io_executor reactor_;
    target target_;
    std::function<void()> changed_;
    std::vector<std::uint8_t> buffer_;
    std::size_t taken_ = 0;
    std::size_t filled_ = 0;
    bool end_ = false;

  private:
    void set_socket_options() {
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

    std::shared_ptr<resolution> resolving_;
};

class plain_connection final : public connection_base {
  public:
    plain_connection(const asio::any_io_executor& reactor, target to, std::function<void()> changed)
        : connection_base(reactor, std::move(to), std::move(changed))
        , socket_(reactor) {}

    asio::awaitable<void> run_open() override {
        const auto keep = shared_from_this();
        if (co_await connect_socket())
            state_ = state::open;
        this->changed();
    }

    void close() noexcept override { close_socket(); }

    outcome read(std::span<std::uint8_t> into) noexcept override {
        if (buffered())
            return {outcome::kind::done, take_buffered(into)};
        if (end_)
            return {outcome::kind::end};
        if (state_ != state::open)
            return {outcome::kind::failed};
        const bool direct = into.size() >= buffer_.size();
        void* to = direct ? into.data() : buffer_.data();
        const ssize_t n = receive(to, direct ? into.size() : buffer_.size(), 0);
        if (n > 0 && direct)
            return {outcome::kind::done, static_cast<std::size_t>(n)};
        if (n > 0) {
            taken_ = 0;
            filled_ = static_cast<std::size_t>(n);
            return {outcome::kind::done, take_buffered(into)};
        }
        if (n == 0) {
            end_ = true;
            return {outcome::kind::end};
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait_readable();
            return {outcome::kind::later};
        }
        fail(error_code(errno, boost::system::system_category()), "read");
        return {outcome::kind::failed};
    }

    outcome write(std::span<const iovec> from) noexcept override {
        if (state_ != state::open)
            return {outcome::kind::failed};
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(from.data());
        message.msg_iovlen = std::min<std::size_t>(from.size(), IOV_MAX);
        ssize_t n;
        do
            n = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        if (n >= 0)
            return {outcome::kind::done, static_cast<std::size_t>(n)};
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait_writable();
            return {outcome::kind::later};
        }
        fail(error_code(errno, boost::system::system_category()), "write");
        return {outcome::kind::failed};
    }

    bool flushed() const noexcept override { return true; }

    bool readable() noexcept override {
        if (buffered() || end_ || state_ != state::open)
            return true;
        std::uint8_t byte;
        if (receive(&byte, 1, MSG_PEEK) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
            return true;
        wait_readable();
        return false;
    }

    bool peer_closed() noexcept override {
        if (state_ != state::open || end_)
            return true;
        if (buffered())
            return false;
        std::uint8_t byte;
        const ssize_t n = receive(&byte, 1, MSG_PEEK);
        return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    }

  private:
    tcp::socket& socket() noexcept override { return socket_; }
    std::shared_ptr<plain_connection> self() {
        return std::static_pointer_cast<plain_connection>(shared_from_this());
    }

    ssize_t receive(void* into, std::size_t size, int flags) noexcept {
        ssize_t n;
        do
            n = ::recv(socket_.native_handle(), into, size, flags | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        return n;
    }

    void wait_readable() {
        if (std::exchange(waiting_read_, true))
            return;
        socket_.async_wait(tcp::socket::wait_read, [s = self()](error_code ec) {
            s->waiting_read_ = false;
            if (ec != asio::error::operation_aborted)
                s->changed();
        });
    }

    void wait_writable() {
        if (std::exchange(waiting_write_, true))
            return;
        socket_.async_wait(tcp::socket::wait_write, [s = self()](error_code ec) {
            s->waiting_write_ = false;
            if (ec != asio::error::operation_aborted)
                s->changed();
        });
    }

    tcp::socket socket_;
    bool waiting_read_ = false;
    bool waiting_write_ = false;
};

/// Asio's TLS stream under our stream: OpenSSL runs within one call of Asio at a time, so its
/// per-thread error queue is never read across a suspension.
class tls_connection final : public connection_base {
  public:
    tls_connection(const asio::any_io_executor& reactor, target to, std::function<void()> changed)
        : connection_base(reactor, std::move(to), std::move(changed))
        , stream_(reactor, *target_.tls) {}

    asio::awaitable<void> run_open() override {
        const auto keep = shared_from_this();
        if (co_await connect_socket() && prepare())
            co_await shake_hands();
        this->changed();
    }

    void close() noexcept override { close_socket(); }

    outcome read(std::span<std::uint8_t> into) noexcept override {
        if (buffered())
            return {outcome::kind::done, take_buffered(into)};
        if (end_)
            return {outcome::kind::end};
        if (state_ != state::open)
            return {outcome::kind::failed};
        start_read();
        return {outcome::kind::later};
    }

    outcome write(std::span<const iovec> from) noexcept override {
        if (state_ != state::open)
            return {outcome::kind::failed};
        if (writing_)
            return {outcome::kind::later};
        out_.clear();
        for (const auto& part : from) {
            const auto* begin = static_cast<const std::uint8_t*>(part.iov_base);
            out_.insert(out_.end(), begin, begin + part.iov_len);
        }
        writing_ = true;
        asio::async_write(stream_, asio::buffer(out_), [s = self()](error_code ec, std::size_t) {
            s->writing_ = false;
            // One large command must not keep its memory for the connection's whole life.
            if (s->out_.capacity() > 256 * 1024)
                s->out_ = {};
            if (ec)
                s->fail(ec, "write");
            s->changed();
        });
        return {outcome::kind::done, out_.size()};
    }

    bool flushed() const noexcept override { return !writing_; }

    bool readable() noexcept override {
        if (buffered() || end_ || state_ != state::open)
            return true;
        start_read();
        return false;
    }

    bool peer_closed() noexcept override {
        if (buffered())
            return false;
        if (state_ != state::open || end_)
            return true;
        // There is no peeking through TLS; an outstanding read notices the end when it comes.
        start_read();
        return false;
    }

  private:
    tcp::socket& socket() noexcept override { return stream_.next_layer(); }
    std::shared_ptr<tls_connection> self() {
        return std::static_pointer_cast<tls_connection>(shared_from_this());
    }

    asio::awaitable<void> shake_hands() {
        const auto turn = co_await handshake_limit::of(reactor_).acquire();
        if (state_ != state::opening)
            co_return; // closed while it waited for its turn
        error_code ec;
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await stream_.async_handshake(asio::ssl::stream_base::client, token);
        if (state_ != state::opening)
            co_return;
        if (ec)
            fail(ec, "TLS handshake");
        else
            state_ = state::open;
    }

    /// Server name and, unless switched off, its check against the certificate.
    bool prepare() {
        error_code not_literal;
        asio::ip::make_address(target_.host, not_literal);
        if (not_literal &&
            !SSL_set_tlsext_host_name(stream_.native_handle(), target_.host.c_str())) {
            fail(asio::error::invalid_argument, "TLS server name");
            return false;
        }
        if (target_.verify_host_name) {
            error_code ec;
            stream_.set_verify_callback(asio::ssl::host_name_verification(target_.host), ec);
            if (ec) {
                fail(ec, "TLS host name check");
                return false;
            }
        }
        return true;
    }

    void start_read() {
        if (std::exchange(reading_, true))
            return;
        stream_.async_read_some(asio::buffer(buffer_), [s = self()](error_code ec, std::size_t n) {
            s->reading_ = false;
            s->taken_ = 0;
            s->filled_ = n;
            if (ec == asio::error::eof || ec == asio::ssl::error::stream_truncated)
                s->end_ = true;
            else if (ec)
                s->fail(ec, "read");
            s->changed();
        });
    }

    asio::ssl::stream<tcp::socket> stream_;
    std::vector<std::uint8_t> out_;
    bool reading_ = false;
    bool writing_ = false;
};

} // namespace

std::shared_ptr<connection> connection::make(asio::any_io_executor reactor, target to,
                                             std::function<void()> changed) {
    if (to.tls)
        return std::make_shared<tls_connection>(reactor, std::move(to), std::move(changed));
    return std::make_shared<plain_connection>(reactor, std::move(to), std::move(changed));
}

} // namespace cdc::mongodb::client
