// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wire/wire_server.hpp"

#include "core/runtime/reactor.hpp"
#include "tests/support/wire/wire_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <future>
#include <unordered_set>

namespace cdc::test::wire {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

std::unique_ptr<asio::ssl::context> make_tls(const tls_options& options) {
    if (options.certificate_and_key_pem.empty())
        return nullptr;
    auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
    context->use_certificate_chain_file(options.certificate_and_key_pem);
    context->use_private_key_file(options.certificate_and_key_pem, asio::ssl::context::pem);
    if (!options.client_ca_pem.empty()) {
        context->load_verify_file(options.client_ca_pem);
        context->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    }
    return context;
}

} // namespace

struct server::impl {
    explicit impl(runtime::reactor* shared)
        : own(shared == nullptr ? std::make_unique<runtime::reactor>("wire-server") : nullptr)
        , reactor(shared == nullptr ? *own : *shared) {}

    factory make_session;
    std::unique_ptr<asio::ssl::context> tls;
    // Above the reactor: handlers that are dropped with it must not refer to what is gone.
    std::unordered_set<std::shared_ptr<connection>> connections;
    std::unique_ptr<runtime::reactor> own;
    runtime::reactor& reactor;
    tcp::acceptor acceptor{reactor.executor()};
    /// Bound and not listening while the server is stopped: nobody else gets the port.
    tcp::acceptor reserved{reactor.executor()};
    std::uint16_t port = 0;
    std::atomic<std::size_t> accepted = 0;
    std::atomic<std::size_t> open = 0;
    bool stopping = false;
    bool accepting = false;
    std::shared_ptr<std::promise<void>> stopped = std::make_shared<std::promise<void>>();

    void finish_if_stopped() {
        if (!stopping || accepting || !connections.empty())
            return;
        const auto keep = stopped; // the waiting destructor may be through before set_value is
        keep->set_value();
    }

    asio::awaitable<void> serve(std::shared_ptr<connection> c) {
        co_await c->run();
        connections.erase(c);
        c.reset();
        open.fetch_sub(1, std::memory_order_relaxed);
        finish_if_stopped();
    }

    asio::awaitable<void> accept_loop() {
        constexpr auto token = asio::as_tuple(asio::use_awaitable);
        while (acceptor.is_open()) {
            auto [failure, socket] = co_await acceptor.async_accept(token);
            // What was accepted while the server stopped is not served.
            if (failure || stopping || !acceptor.is_open())
                continue;
            accepted.fetch_add(1, std::memory_order_relaxed);
            open.fetch_add(1, std::memory_order_relaxed);
            auto behaviour = make_session(reactor.executor());
            auto c = connection::make(std::move(socket), tls.get(), std::move(behaviour));
            connections.insert(c);
            asio::co_spawn(reactor.executor(), serve(c), asio::detached);
        }
        accepting = false;
        finish_if_stopped();
    }

    void bind(tcp::acceptor& a, std::uint16_t wanted) const {
        const tcp::endpoint where(asio::ip::address_v4::loopback(), wanted);
        a.open(where.protocol());
        a.set_option(asio::socket_base::reuse_address(true));
        a.bind(where);
    }

    void listen() {
        acceptor.listen(4096);
        if (!std::exchange(accepting, true))
            asio::co_spawn(reactor.executor(), accept_loop(), asio::detached);
    }

    /// Before anybody else knows it.
    void begin(factory make, std::uint16_t wanted, const tls_options& options) {
        make_session = std::move(make);
        tls = make_tls(options);
        bind(acceptor, wanted);
        port = acceptor.local_endpoint().port();
        listen();
    }

    void listening_ends() {
        boost::system::error_code ignored;
        acceptor.close(ignored);
        reserved.close(ignored);
    }

    void close_all(bool reset) {
        for (const auto& c : connections)
            c->close(reset);
    }
};

server::server(factory make_session, std::uint16_t port, tls_options tls)
    : impl_(std::make_unique<impl>(nullptr)) {
    impl_->begin(std::move(make_session), port, tls);
}

server::server(runtime::reactor& shared, factory make_session, std::uint16_t port, tls_options tls)
    : impl_(std::make_unique<impl>(&shared)) {
    impl_->begin(std::move(make_session), port, tls);
}

server::~server() {
    asio::post(impl_->reactor.executor(), [s = impl_.get()] {
        s->stopping = true;
        s->listening_ends();
        s->close_all(false);
        s->finish_if_stopped();
    });
    impl_->stopped->get_future().wait();
}

std::uint16_t server::port() const noexcept {
    return impl_->port;
}
std::string server::host_port() const {
    return "127.0.0.1:" + std::to_string(impl_->port);
}
asio::any_io_executor server::executor() const noexcept {
    return impl_->reactor.executor();
}
std::size_t server::accepted() const noexcept {
    return impl_->accepted.load(std::memory_order_relaxed);
}
std::size_t server::open_connections() const noexcept {
    return impl_->open.load(std::memory_order_relaxed);
}

void server::drop_connections() {
    if (impl_->reactor.running_in_this_thread()) {
        impl_->close_all(true);
        return;
    }
    std::promise<void> done;
    auto finished = done.get_future();
    asio::post(impl_->reactor.executor(), [s = impl_.get(), &done] {
        s->close_all(true);
        done.set_value();
    });
    finished.wait();
}

void server::stop_listening(bool reset) {
    impl_->listening_ends();
    impl_->bind(impl_->reserved, impl_->port);
    impl_->close_all(reset);
}

void server::listen_again() {
    impl_->acceptor = std::move(impl_->reserved);
    impl_->listen();
}

} // namespace cdc::test::wire
