// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/http_client.hpp"

#include "sinks/webhook/name_lookup.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace cdc::webhook {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using error::errc;
using std::chrono::milliseconds;

namespace {

constexpr auto token = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t header_limit = 16 * 1024;
constexpr std::size_t body_limit = 64 * 1024;

using plain_stream = beast::tcp_stream;
using tls_stream = beast::ssl_stream<beast::tcp_stream>;
using body_type = http::span_body<const char>;

/// What one exchange over one connection came to.
struct exchange {
    error::result<http_answer> outcome;
    bool keep = false; ///< the connection can carry another request
    bool gone = false; ///< the connection was closed before anything of an answer came
};

bool means_closed(const error_code& e) {
    return e == http::error::end_of_stream || e == asio::error::eof ||
           e == asio::error::connection_reset || e == asio::error::broken_pipe ||
           e == asio::ssl::error::stream_truncated;
}

error::diagnostics failure_of(const char* phase, const error_code& e, milliseconds limit) {
    if (e == beast::error::timeout)
        return error::fail(errc::timeout,
                           fmt::format("{} took longer than {} ms", phase, limit.count()));
    return error::fail(errc::network, fmt::format("{}: {}", phase, e.message()));
}

error::diagnostics failure_of_answer(const error_code& e, milliseconds limit) {
    if (e == http::error::partial_message)
        return error::fail(errc::network, "the connection was closed within the answer's header");
    if (means_closed(e))
        return error::fail(errc::network, "the connection was closed without an answer");
    if (e == http::error::header_limit || e == http::error::buffer_overflow)
        return error::fail(
            errc::protocol,
            fmt::format("the answer's header is larger than {} bytes", header_limit));
    if (e.category() == error_code(http::error::bad_version).category())
        return error::fail(errc::protocol,
                           fmt::format("the answer is not HTTP/1 ({})", e.message()));
    return failure_of("the answer", e, limit);
}

} // namespace

struct http_client::impl {
    impl(asio::any_io_executor r, target_url to, limits b, log::logger logger)
        : reactor(std::move(r))
        , url(std::move(to))
        , bounds(b)
        , lookup(reactor, url.host, url.port, std::move(logger)) {}

    bool open() noexcept { return plain || tls; }
    beast::tcp_stream& lowest() noexcept { return tls ? tls->next_layer() : *plain; }
    void close() noexcept {
        plain.reset();
        tls.reset();
        buffer.clear();
    }
    bool reusable() noexcept;

    asio::awaitable<error::result<void>> connect();
    asio::awaitable<error::result<void>> connect_to(tcp::endpoint where);
    asio::awaitable<exchange> run_present(http::request<body_type>& request) {
        return tls ? run(*tls, request) : run(*plain, request);
    }
    template <class Stream>
    asio::awaitable<exchange> run(Stream& stream, http::request<body_type>& request);
    template <class Stream>
    asio::awaitable<exchange> read_answer(Stream& stream);
    template <class Stream, class Parser>
    asio::awaitable<bool> drop_body(Stream& stream, Parser& parser);

    asio::any_io_executor reactor;
    target_url url;
    limits bounds;
    name_lookup lookup;
    std::optional<asio::ssl::context> trusted;
    std::optional<plain_stream> plain; ///< one of the two while there is a connection
    std::optional<tls_stream> tls;
    beast::flat_buffer buffer{header_limit + body_limit};
    bool cancelled = false;
    std::size_t connections = 0;
};

bool http_client::impl::reusable() noexcept {
    if (!open())
        return false;
    // Nothing may lie there between an answer and the next request: the end of the connection, or
    // bytes that belong to no request.
    char byte = 0;
    const auto n = ::recv(lowest().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return buffer.size() == 0 && n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

asio::awaitable<error::result<void>> http_client::impl::connect() {
    close();
    auto found = co_await lookup.find(bounds.connect);
    if (!found)
        co_return found.error();
    error::result<void> connected;
    for (const auto& where : *found) {
        connected = co_await connect_to(where);
        if (connected || cancelled)
            break;
        close();
    }
    if (connected)
        ++connections;
    co_return connected;
}

asio::awaitable<error::result<void>> http_client::impl::connect_to(tcp::endpoint where) {
    if (url.tls && !trusted)
        co_return error::fail(errc::internal, "no authorities were loaded");
    if (url.tls)
        tls.emplace(reactor, *trusted);
    else
        plain.emplace(reactor);
    const std::string phase =
        where.address().is_v6()
            ? fmt::format("connecting to [{}]:{}", where.address().to_string(), where.port())
            : fmt::format("connecting to {}:{}", where.address().to_string(), where.port());
    lowest().expires_after(bounds.connect);
    auto [failure] = co_await lowest().async_connect(where, token);
    if (failure)
        co_return failure_of(phase.c_str(), failure, bounds.connect);
    error_code ignored;
    lowest().socket().set_option(tcp::no_delay(true), ignored);
    if (!tls)
        co_return error::result<void>{};

    static constexpr unsigned char protocols[] = "\x08http/1.1";
    SSL_set_alpn_protos(tls->native_handle(), protocols, sizeof protocols - 1);
    error_code not_an_address;
    asio::ip::make_address(url.host, not_an_address);
    if (not_an_address)
        SSL_set_tlsext_host_name(tls->native_handle(), url.host.c_str());
    tls->set_verify_mode(asio::ssl::verify_peer);
    tls->set_verify_callback(asio::ssl::host_name_verification(url.host));
    lowest().expires_after(bounds.connect);
    auto [refused] = co_await tls->async_handshake(asio::ssl::stream_base::client, token);
    if (refused) {
        auto d = failure_of("the TLS handshake", refused, bounds.connect);
        const long why = SSL_get_verify_result(tls->native_handle());
        if (d.code == errc::network && why != X509_V_OK)
            d.text += fmt::format(" ({})", X509_verify_cert_error_string(why));
        co_return d;
    }
    co_return error::result<void>{};
}

template <class Stream>
asio::awaitable<exchange> http_client::impl::run(Stream& stream,
                                                 http::request<body_type>& request) {
    http::request_serializer<body_type> serializer(request);
    beast::get_lowest_layer(stream).expires_after(bounds.write);
    auto [unwritten, written] = co_await http::async_write(stream, serializer, token);
    static_cast<void>(written);
    if (unwritten == beast::error::timeout || (unwritten && cancelled))
        co_return exchange{failure_of("sending the request", unwritten, bounds.write)};
    auto out = co_await read_answer(stream);
    if (unwritten) {
        out.keep = false;
        if (!out.outcome)
            out.outcome = failure_of("sending the request", unwritten, bounds.write);
    }
    co_return out;
}

template <class Stream>
asio::awaitable<exchange> http_client::impl::read_answer(Stream& stream) {
    beast::get_lowest_layer(stream).expires_after(bounds.answer);
    for (bool first = true;; first = false) {
        http::response_parser<http::buffer_body> parser;
        parser.header_limit(header_limit);
        parser.body_limit(boost::none);
        auto [failure, size] = co_await http::async_read_header(stream, buffer, parser, token);
        static_cast<void>(size);
        if (failure) {
            exchange out{failure_of_answer(failure, bounds.answer)};
            out.gone = first && means_closed(failure) && buffer.size() == 0;
            co_return out;
        }
        http_answer answer;
        answer.status = parser.get().result_int();
        if (answer.status >= 100 && answer.status < 200 && answer.status != 101)
            continue;
        const auto header = parser.get().find(http::field::retry_after);
        if (header != parser.get().end())
            answer.retry_after.emplace(header->value().data(), header->value().size());
        exchange out{std::move(answer)};
        const bool keep_alive = parser.get().keep_alive();
        const bool dropped = co_await drop_body(stream, parser);
        out.keep = dropped && keep_alive;
        co_return out;
    }
}

/// False: there is more of it than is worth reading, or it did not come.
template <class Stream, class Parser>
asio::awaitable<bool> http_client::impl::drop_body(Stream& stream, Parser& parser) {
    if (parser.is_done())
        co_return true;
    if (parser.need_eof() || (parser.content_length() && *parser.content_length() > body_limit))
        co_return false;
    std::array<char, 4096> scratch;
    std::size_t taken = 0;
    while (!parser.is_done()) {
        parser.get().body().data = scratch.data();
        parser.get().body().size = scratch.size();
        auto [failure, size] = co_await http::async_read_some(stream, buffer, parser, token);
        static_cast<void>(size);
        taken += scratch.size() - parser.get().body().size;
        if ((failure && failure != http::error::need_buffer) || taken > body_limit)
            co_return false;
    }
    co_return true;
}

http_client::http_client(asio::any_io_executor reactor, target_url to, limits bounds,
                         log::logger logger)
    : impl_(std::make_unique<impl>(std::move(reactor), std::move(to), bounds, std::move(logger))) {}

http_client::~http_client() = default;

error::result<void> http_client::trust(const std::filesystem::path& ca_file) {
    asio::ssl::context context(asio::ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    error_code failure;
    if (ca_file.empty())
        context.set_default_verify_paths(failure);
    else
        context.load_verify_file(ca_file.string(), failure);
    if (failure)
        return error::fail(
            errc::configuration,
            ca_file.empty()
                ? fmt::format("the system's authorities cannot be read: {}", failure.message())
                : fmt::format("{} is not a readable PEM file: {}", ca_file.string(),
                              failure.message()));
    impl_->trusted.emplace(std::move(context));
    return {};
}

asio::awaitable<error::result<http_answer>> http_client::post(const http_request& request) {
    auto& i = *impl_;
    http::request<body_type> message;
    message.method(http::verb::post);
    message.target(i.url.target);
    message.version(11);
    message.set(http::field::host, i.url.authority());
    message.set(http::field::user_agent, "mongocdc/" MONGOCDC_VERSION);
    for (const auto& [name, value] : request.headers)
        message.set(name, value);
    message.body() = {request.body.data(), request.body.size()};
    message.content_length(request.body.size());

    bool reused = !i.cancelled && i.reusable();
    while (!i.cancelled) {
        if (!reused) {
            auto connected = co_await i.connect();
            if (i.cancelled)
                break;
            if (!connected) {
                i.close();
                co_return connected.error();
            }
        }
        auto done = co_await i.run_present(message);
        if (!done.keep || i.cancelled)
            i.close();
        if (i.cancelled)
            break;
        if (reused && done.gone) {
            reused = false;
            continue;
        }
        co_return std::move(done.outcome);
    }
    i.close();
    co_return error::fail(errc::cancelled, "cancelled");
}

asio::awaitable<error::result<void>> http_client::connect() {
    auto connected = co_await impl_->connect();
    if (impl_->cancelled)
        connected = error::fail(errc::cancelled, "cancelled");
    if (!connected)
        impl_->close();
    co_return connected;
}

void http_client::cancel() noexcept {
    impl_->cancelled = true;
    impl_->lookup.cancel();
    // The streams stay: a pending operation still refers to them.
    if (impl_->open())
        impl_->lowest().close();
}

asio::awaitable<void> http_client::stop() {
    cancel();
    impl_->close();
    co_await impl_->lookup.stop();
}

std::size_t http_client::connections() const noexcept {
    return impl_->connections;
}

} // namespace cdc::webhook
