// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/plain_connection.hpp"

#include "sources/mongodb/client/socket_connection.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <climits>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace cdc::mongodb::client {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// Small enough that a reply of some ten kilobytes is not copied twice: only what surrounds the
/// length prefix goes through it.
constexpr std::size_t read_ahead = 4 * 1024;

class plain_connection final : public socket_connection {
  public:
    plain_connection(const asio::any_io_executor& reactor, target to, std::function<void()> changed)
        : socket_connection(reactor, std::move(to), std::move(changed), read_ahead)
        , socket_(reactor) {}

    asio::awaitable<void> run_open() override {
        const auto keep = shared_from_this();
        if (co_await connect_socket())
            state_ = state::open;
        this->changed();
    }

    outcome read(std::span<std::uint8_t> into) noexcept override {
        if (const auto known = read_known(into))
            return *known;
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

} // namespace

std::shared_ptr<connection> make_plain_connection(asio::any_io_executor reactor,
                                                  connection::target to,
                                                  std::function<void()> changed) {
    return std::make_shared<plain_connection>(reactor, std::move(to), std::move(changed));
}

} // namespace cdc::mongodb::client
