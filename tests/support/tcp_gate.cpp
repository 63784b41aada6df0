// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tcp_gate.hpp"

#include "core/runtime/reactor.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <atomic>
#include <future>
#include <optional>
#include <set>

namespace cdc::test {

namespace asio = boost::asio;
using asio::ip::tcp;
constexpr auto tuple = asio::as_tuple(asio::use_awaitable);

namespace {

struct link {
    explicit link(const asio::any_io_executor& e)
        : client(e)
        , server(e)
        , resume(e, asio::steady_timer::time_point::max()) {}
    tcp::socket client;
    tcp::socket server;
    asio::steady_timer resume; // cancelled when the mode changes
    bool closed = false;

    void close(bool reset) {
        if (std::exchange(closed, true))
            return;
        boost::system::error_code ignored;
        if (reset) {
            client.set_option(asio::socket_base::linger(true, 0), ignored);
            server.set_option(asio::socket_base::linger(true, 0), ignored);
        }
        client.close(ignored);
        server.close(ignored);
        resume.cancel();
    }
};

} // namespace

struct tcp_gate::impl {
    explicit impl(std::uint16_t target_port)
        : target(asio::ip::address_v4::loopback(), target_port)
        , acceptor(loop.executor(), tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        asio::co_spawn(loop.executor(), accept_loop(), asio::detached);
    }

    template <class F>
    void on_loop(F f) {
        std::promise<void> done;
        asio::post(loop.executor(), [&] {
            f();
            done.set_value();
        });
        done.get_future().wait();
    }

    void wake_all() {
        for (const auto& l : links)
            l->resume.cancel();
    }

    asio::awaitable<void> accept_loop() {
        for (;;) {
            auto l = std::make_shared<link>(loop.executor());
            auto [ec] = co_await acceptor.async_accept(l->client, tuple);
            if (ec)
                co_return;
            ++accepted;
            links.insert(l);
            open = links.size();
            asio::co_spawn(loop.executor(), serve(l), asio::detached);
        }
    }

    asio::awaitable<void> serve(std::shared_ptr<link> l) {
        co_await hold(l);
        if (!l->closed) {
            auto [ec] = co_await l->server.async_connect(target, tuple);
            if (ec)
                l->close(true);
        }
        if (!l->closed) {
            boost::system::error_code ignored;
            l->client.set_option(tcp::no_delay(true), ignored);
            l->server.set_option(tcp::no_delay(true), ignored);
            asio::co_spawn(loop.executor(), pump(l, true), asio::detached);
            co_await pump(l, false);
        }
        links.erase(l);
        open = links.size();
    }

    /// Waits while the gate is a black hole.
    asio::awaitable<void> hold(std::shared_ptr<link> l) {
        while (swallow && !l->closed) {
            l->resume.expires_at(asio::steady_timer::time_point::max());
            co_await l->resume.async_wait(tuple);
        }
    }

    asio::awaitable<void> pump(std::shared_ptr<link> l, bool to_client) {
        auto& from = to_client ? l->server : l->client;
        auto& to = to_client ? l->client : l->server;
        std::array<char, 64 * 1024> data;
        while (!l->closed) {
            auto [ec, n] = co_await from.async_read_some(asio::buffer(data), tuple);
            co_await hold(l);
            if (ec || l->closed)
                break;
            std::size_t send = n;
            bool then_reset = false;
            if (to_client && cut_after) {
                then_reset = *cut_after <= n;
                send = std::min(n, *cut_after);
                *cut_after -= send;
                if (then_reset)
                    cut_after.reset();
            }
            auto chunk = asio::buffer(data.data(), send);
            auto [write_error, written] = co_await asio::async_write(to, chunk, tuple);
            if (to_client)
                forwarded += written;
            if (then_reset)
                l->close(true);
            if (write_error)
                break;
        }
        l->close(false);
    }

    tcp::endpoint target;
    std::set<std::shared_ptr<link>> links;
    bool swallow = false;
    std::optional<std::size_t> cut_after;
    std::atomic<std::size_t> accepted{0}, open{0}, forwarded{0};
    runtime::reactor loop{"tcp-gate"};
    tcp::acceptor acceptor;
};

tcp_gate::tcp_gate(std::uint16_t target_port)
    : impl_(std::make_unique<impl>(target_port)) {}

tcp_gate::~tcp_gate() {
    impl_->on_loop([this] {
        boost::system::error_code ignored;
        impl_->acceptor.close(ignored);
        const auto all = impl_->links;
        for (const auto& l : all)
            l->close(true);
    });
    // Each round trip lets the loop run what is ready; the links end by themselves.
    while (impl_->open > 0)
        impl_->on_loop([] {});
}

std::uint16_t tcp_gate::port() const noexcept {
    return impl_->acceptor.local_endpoint().port();
}
std::string tcp_gate::host_port() const {
    return "127.0.0.1:" + std::to_string(port());
}

void tcp_gate::pass() {
    impl_->on_loop([this] {
        impl_->swallow = false;
        impl_->wake_all();
    });
}
void tcp_gate::black_hole() {
    impl_->on_loop([this] { impl_->swallow = true; });
}
void tcp_gate::reset_all() {
    impl_->on_loop([this] {
        for (const auto& l : impl_->links)
            l->close(true);
    });
}
void tcp_gate::cut_all() {
    impl_->on_loop([this] {
        for (const auto& l : impl_->links)
            l->close(false);
    });
}
void tcp_gate::reset_after(std::size_t bytes) {
    impl_->on_loop([this, bytes] { impl_->cut_after = bytes; });
}

std::size_t tcp_gate::accepted() const noexcept {
    return impl_->accepted;
}
std::size_t tcp_gate::open_connections() const noexcept {
    return impl_->open;
}
std::size_t tcp_gate::bytes_to_client() const noexcept {
    return impl_->forwarded;
}

} // namespace cdc::test
