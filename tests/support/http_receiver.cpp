// SPDX-License-Identifier: Apache-2.0
#include "tests/support/http_receiver.hpp"

#include "core/runtime/reactor.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <future>
#include <mutex>
#include <unordered_set>

namespace cdc::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);

http_receiver::decision scripted(std::vector<receiver_answer> script) {
    return [script = std::move(script)](const received_request&, std::size_t n) {
        return n <= script.size() ? script[n - 1] : receiver_answer{};
    };
}

template <class Message>
received_request as_received(const Message& message) {
    received_request out;
    out.method = std::string(message.method_string());
    out.target = std::string(message.target());
    for (const auto& field : message) {
        std::string name(field.name_string());
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        out.headers.emplace_back(std::move(name), std::string(field.value()));
    }
    out.body = message.body();
    out.arrived = std::chrono::steady_clock::now();
    out.arrived_at = std::chrono::system_clock::now();
    return out;
}

} // namespace

std::string received_request::header(std::string_view name) const {
    std::string out;
    for (const auto& [is, value] : headers)
        if (is == name)
            out += (out.empty() ? "" : " | ") + value;
    return out;
}

std::size_t received_request::header_bytes() const {
    std::size_t n = 0;
    for (const auto& [name, value] : headers)
        n += name.size() + value.size();
    return n;
}

struct http_receiver::impl {
    decision decide;
    options how;
    std::unique_ptr<asio::ssl::context> tls;
    mutable std::mutex mutex;
    std::vector<received_request> requests;
    // Above the reactor: handlers that are dropped with it must not refer to what is gone.
    std::unordered_set<beast::tcp_stream*> streams;
    runtime::reactor reactor{"http-receiver"};
    tcp::acceptor acceptor{reactor.executor()};
    asio::steady_timer gate{reactor.executor(), asio::steady_timer::time_point::max()};
    std::uint16_t port = 0;
    std::atomic<std::size_t> accepted = 0;
    std::atomic<std::size_t> open = 0;
    std::size_t releases = 0;
    std::size_t to_refuse = 0;
    std::size_t running = 0; ///< coroutines
    bool stopping = false;
    std::shared_ptr<std::promise<void>> stopped = std::make_shared<std::promise<void>>();

    void ended() {
        if (--running == 0) {
            const auto keep = stopped; // the waiting destructor may be through before set_value is
            keep->set_value();
        }
    }

    asio::awaitable<void> until_released() {
        while (!stopping && releases == 0)
            co_await gate.async_wait(token);
        if (releases > 0)
            --releases;
    }
    asio::awaitable<void> until_stopped() {
        while (!stopping)
            co_await gate.async_wait(token);
    }

    asio::awaitable<void> accept_loop() {
        while (acceptor.is_open()) {
            auto [failure, socket] = co_await acceptor.async_accept(token);
            if (failure || stopping)
                continue;
            const std::size_t number = accepted.fetch_add(1) + 1;
            if (to_refuse > 0) {
                --to_refuse;
                continue; // closes the socket
            }
            ++running;
            asio::co_spawn(reactor.executor(), session(std::move(socket), number), asio::detached);
        }
        ended();
    }

    asio::awaitable<void> session(tcp::socket socket, std::size_t number) {
        open.fetch_add(1);
        if (tls) {
            beast::ssl_stream<beast::tcp_stream> stream(std::move(socket), *tls);
            streams.insert(&stream.next_layer());
            auto [failure] = co_await stream.async_handshake(asio::ssl::stream_base::server, token);
            if (!failure)
                co_await serve(stream, number);
            streams.erase(&stream.next_layer());
        } else {
            beast::tcp_stream stream(std::move(socket));
            streams.insert(&stream);
            co_await serve(stream, number);
            streams.erase(&stream);
        }
        open.fetch_sub(1);
        ended();
    }

    template <class Stream>
    asio::awaitable<void> serve(Stream& stream, std::size_t number) {
        beast::flat_buffer buffer;
        bool more = true;
        while (more && !stopping) {
            http::request_parser<http::string_body> parser;
            parser.header_limit(1024 * 1024);
            parser.body_limit(boost::none);
            auto [failure, size] = co_await http::async_read_header(stream, buffer, parser, token);
            static_cast<void>(size);
            if (failure)
                break;
            if (how.early_status) {
                receiver_answer early;
                early.status = *how.early_status;
                co_await send(stream, early, false);
                break;
            }
            auto [cut, taken] = co_await http::async_read(stream, buffer, parser, token);
            static_cast<void>(taken);
            if (cut)
                break;
            auto request = as_received(parser.get());
            request.connection = number;
            std::size_t count = 0;
            {
                const std::lock_guard lock(mutex);
                requests.push_back(request);
                count = requests.size();
            }
            receiver_answer answer;
            if (decide)
                answer = decide(request, count);
            more = co_await act(stream, answer, parser.get().keep_alive());
        }
    }

    /// False: the connection ends.
    template <class Stream>
    asio::awaitable<bool> act(Stream& stream, const receiver_answer& answer, bool keep_alive) {
        if (answer.held)
            co_await until_released();
        if (answer.reset) {
            boost::system::error_code ignored;
            beast::get_lowest_layer(stream).socket().set_option(asio::socket_base::linger(true, 0),
                                                                ignored);
        }
        bool more = !answer.close && !answer.reset && !answer.raw && keep_alive;
        if (answer.raw)
            co_await asio::async_write(stream, asio::buffer(*answer.raw), token);
        else if (!answer.close && !answer.reset)
            co_await send(stream, answer, keep_alive);
        if (answer.stall)
            co_await until_stopped();
        co_return more && !answer.close_after;
    }

    template <class Stream>
    asio::awaitable<void> send(Stream& stream, const receiver_answer& answer, bool keep_alive) {
        http::response<http::string_body> message;
        message.version(11);
        message.result(answer.status);
        message.keep_alive(keep_alive);
        for (const auto& [name, value] : answer.headers)
            message.insert(name, value);
        message.body() = answer.body;
        message.prepare_payload();
        co_await http::async_write(stream, message, token);
    }

    template <class F>
    void on_reactor(F work) {
        std::promise<void> done;
        auto finished = done.get_future();
        asio::post(reactor.executor(), [&] {
            work();
            done.set_value();
        });
        finished.wait();
    }
};

http_receiver::http_receiver(std::vector<receiver_answer> script)
    : http_receiver(scripted(std::move(script)), options{}) {}
http_receiver::http_receiver(std::vector<receiver_answer> script, options how)
    : http_receiver(scripted(std::move(script)), std::move(how)) {}

http_receiver::http_receiver(decision decide, options how)
    : impl_(std::make_unique<impl>()) {
    impl_->decide = std::move(decide);
    impl_->how = std::move(how);
    if (const auto& pem = impl_->how.certificate_and_key; !pem.empty()) {
        impl_->tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
        impl_->tls->use_certificate_chain_file(pem);
        impl_->tls->use_private_key_file(pem, asio::ssl::context::pem);
    }
    const tcp::endpoint where(asio::ip::address_v4::loopback(), impl_->how.port);
    impl_->acceptor.open(where.protocol());
    impl_->acceptor.set_option(asio::socket_base::reuse_address(true));
    impl_->acceptor.bind(where);
    impl_->acceptor.listen();
    impl_->port = impl_->acceptor.local_endpoint().port();
    impl_->running = 1;
    asio::co_spawn(impl_->reactor.executor(), impl_->accept_loop(), asio::detached);
}

http_receiver::~http_receiver() {
    asio::post(impl_->reactor.executor(), [s = impl_.get()] {
        s->stopping = true;
        boost::system::error_code ignored;
        s->acceptor.close(ignored);
        for (auto* stream : s->streams)
            stream->close();
        s->gate.cancel();
    });
    impl_->stopped->get_future().wait();
}

std::uint16_t http_receiver::port() const noexcept {
    return impl_->port;
}

std::string http_receiver::url(std::string_view target) const {
    return (impl_->tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port()) +
           std::string(target);
}

std::vector<received_request> http_receiver::requests() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->requests;
}

std::size_t http_receiver::count() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->requests.size();
}

std::size_t http_receiver::connections() const noexcept {
    return impl_->accepted.load();
}
std::size_t http_receiver::open_connections() const noexcept {
    return impl_->open.load();
}

void http_receiver::release() {
    impl_->on_reactor([s = impl_.get()] {
        ++s->releases;
        s->gate.cancel();
    });
}

void http_receiver::close_connections() {
    impl_->on_reactor([s = impl_.get()] {
        for (auto* stream : s->streams)
            stream->close();
    });
}

void http_receiver::refuse_next(std::size_t count) {
    impl_->on_reactor([s = impl_.get(), count] { s->to_refuse = count; });
}

} // namespace cdc::test
