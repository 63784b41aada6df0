// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/tls_connection.hpp"

#include "sources/mongodb/client/handshake_limit.hpp"
#include "sources/mongodb/client/socket_connection.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <utility>
#include <vector>

namespace cdc::mongodb::client {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// A TLS record is 16 KiB, and its bytes pass through a buffer in any case.
constexpr std::size_t read_ahead = 20 * 1024;

/// Asio's TLS stream under our stream: OpenSSL runs within one call of Asio at a time, so its
/// per-thread error queue is never read across a suspension.
class tls_connection final : public socket_connection {
  public:
    tls_connection(const asio::any_io_executor& reactor, target to, std::function<void()> changed)
        : socket_connection(reactor, std::move(to), std::move(changed), read_ahead)
        , stream_(reactor, *target_.tls) {}

    asio::awaitable<void> run_open() override {
        const auto keep = shared_from_this();
        if (co_await connect_socket() && prepare())
            co_await shake_hands();
        this->changed();
    }

    outcome read(std::span<std::uint8_t> into) noexcept override {
        if (const auto known = read_known(into))
            return *known;
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
        if (!ec) {
            state_ = state::open;
            co_return;
        }
        const long verdict = SSL_get_verify_result(stream_.native_handle());
        const std::string during =
            verdict == X509_V_OK
                ? "TLS handshake"
                : std::string("TLS handshake: ") + X509_verify_cert_error_string(verdict);
        fail(ec, during.c_str());
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

std::shared_ptr<connection> make_tls_connection(asio::any_io_executor reactor,
                                                connection::target to,
                                                std::function<void()> changed) {
    return std::make_shared<tls_connection>(reactor, std::move(to), std::move(changed));
}

} // namespace cdc::mongodb::client
