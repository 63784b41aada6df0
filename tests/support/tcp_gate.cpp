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
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <array>
#include <atomic>
#include <future>
#include <set>
#include <span>
#include <utility>

namespace cdc::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;
constexpr auto tuple = asio::as_tuple(asio::use_awaitable);

namespace {

constexpr auto never = asio::steady_timer::time_point::max();
/// A peer whose window is full keeps a cut waiting no longer than this.
constexpr std::chrono::seconds longest_flush{2};

/// One direction of a connection.
struct stream {
    explicit stream(const asio::any_io_executor& e)
        : timer(e, never) {}
    asio::steady_timer timer; ///< cancelled when the gate's mode changes
    gate::cut_plan::lane lane;
};

struct link {
    explicit link(const asio::any_io_executor& e)
        : client(e)
        , server(e)
        , streams{stream(e), stream(e)} {}
    tcp::socket client;
    tcp::socket server;
    std::array<stream, 2> streams; ///< by gate::way
    bool cutting = false;          ///< what comes, either way, no longer passes
    bool closed = false;

    stream& of(gate::way way) noexcept { return streams[static_cast<std::size_t>(way)]; }

    void wake() {
        for (auto& s : streams)
            s.timer.cancel();
    }

    void close(bool reset) {
        if (std::exchange(closed, true))
            return;
        for (auto* s : {&client, &server}) {
            boost::system::error_code ignored;
            if (reset)
                s->set_option(asio::socket_base::linger(true, 0), ignored);
            else
                drop_unread(*s);
            s->close(ignored);
        }
        wake();
    }

  private:
    /// With something unread a close would send RST instead of FIN.
    static void drop_unread(tcp::socket& s) {
        std::array<char, 4096> dropped;
        boost::system::error_code ec;
        while (s.is_open() && s.available(ec) > 0 && !ec)
            s.read_some(asio::buffer(dropped), ec);
    }
};

} // namespace

struct tcp_gate::impl {
    explicit impl(std::uint16_t target_port)
        : target(asio::ip::address_v4::loopback(), target_port)
        , acceptor(loop.executor(), tcp::endpoint(asio::ip::address_v4::loopback(), 0))
        , own(acceptor.local_endpoint()) {
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

    /// Bound again without listening: who connects is refused, and nobody else gets the port.
    void stop_listening() {
        if (!std::exchange(listening, false))
            return;
        acceptor.close();
        acceptor.open(own.protocol());
        acceptor.set_option(asio::socket_base::reuse_address(true));
        acceptor.bind(own);
    }
    void listen_again() {
        if (std::exchange(listening, true))
            return;
        acceptor.listen();
        asio::co_spawn(loop.executor(), accept_loop(), asio::detached);
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
        co_await hold(l, gate::way::to_server);
        if (!l->closed) {
            auto [ec] = co_await l->server.async_connect(target, tuple);
            if (ec)
                l->close(true);
        }
        if (!l->closed) {
            boost::system::error_code ignored;
            l->client.set_option(tcp::no_delay(true), ignored);
            l->server.set_option(tcp::no_delay(true), ignored);
            for (const auto way : {gate::way::to_server, gate::way::to_client})
                if (const auto v = plan.next(way, l->of(way).lane, {}); v.then_cut)
                    l->close(v.reset); // at the boundary before its first message
        }
        if (!l->closed) {
            asio::co_spawn(loop.executor(), pump(l, gate::way::to_client), asio::detached);
            co_await pump(l, gate::way::to_server);
            auto& timer = l->of(gate::way::to_server).timer;
            while (!l->closed) { // the other direction is still cutting
                timer.expires_at(never);
                co_await timer.async_wait(tuple);
            }
        }
        links.erase(l);
        open = links.size();
    }

    /// Waits while the gate is a black hole.
    asio::awaitable<void> hold(std::shared_ptr<link> l, gate::way way) {
        auto& timer = l->of(way).timer;
        while (swallow && !l->closed) {
            timer.expires_at(never);
            co_await timer.async_wait(tuple);
        }
    }

    asio::awaitable<void> wait_delay(std::shared_ptr<link> l, gate::way way) {
        auto& timer = l->of(way).timer;
        const auto& time = delays[static_cast<std::size_t>(way)];
        const auto begin = std::chrono::steady_clock::now();
        while (!l->closed && std::chrono::steady_clock::now() < begin + time) {
            timer.expires_at(begin + time);
            co_await timer.async_wait(tuple);
        }
    }

    /// Waits until the peer's system has everything: an RST would take back the rest.
    asio::awaitable<void> flush(std::shared_ptr<link> l, gate::way way) {
        auto& to = way == gate::way::to_client ? l->client : l->server;
        auto& timer = l->of(way).timer;
        const auto until = std::chrono::steady_clock::now() + longest_flush;
        int unsent = 0;
        while (!l->closed && std::chrono::steady_clock::now() < until &&
               ::ioctl(to.native_handle(), SIOCOUTQ, &unsent) == 0 && unsent > 0) {
            timer.expires_after(milliseconds(1));
            co_await timer.async_wait(tuple);
        }
    }

    asio::awaitable<void> pump(std::shared_ptr<link> l, gate::way way) {
        auto& from = way == gate::way::to_client ? l->server : l->client;
        std::array<char, 64 * 1024> data;
        while (!l->closed) {
            auto [ec, n] = co_await from.async_read_some(asio::buffer(data), tuple);
            co_await hold(l, way);
            if (!ec)
                co_await wait_delay(l, way);
            if (l->cutting)
                co_return; // the other direction closes
            if (ec || l->closed)
                break;
            const std::span<const char> bytes(data.data(), n);
            const bool goes_on = co_await forward(l, way, bytes);
            if (!goes_on)
                co_return;
        }
        l->close(false);
    }

    /// False when the connection is closed or about to be.
    asio::awaitable<bool> forward(std::shared_ptr<link> l, gate::way way,
                                  std::span<const char> bytes) {
        auto& to = way == gate::way::to_client ? l->client : l->server;
        while (!bytes.empty()) {
            const auto v = plan.next(way, l->of(way).lane, bytes);
            l->cutting = v.then_cut; // nothing may pass the other way from here on
            const auto piece = asio::buffer(bytes.data(), v.pass);
            auto [failure, written] = co_await asio::async_write(to, piece, tuple);
            if (way == gate::way::to_client)
                forwarded += written;
            if (v.then_cut) {
                co_await flush(l, way);
                l->close(v.reset);
                co_return false;
            }
            if (failure) {
                l->close(false);
                co_return false;
            }
            if (l->closed || l->cutting)
                co_return false;
            bytes = bytes.subspan(v.pass);
        }
        co_return true;
    }

    tcp::endpoint target;
    std::set<std::shared_ptr<link>> links;
    gate::cut_plan plan;
    std::array<milliseconds, 2> delays{}; ///< by gate::way
    bool swallow = false;
    bool listening = true;
    std::atomic<std::size_t> accepted{0}, open{0}, forwarded{0};
    runtime::reactor loop{"tcp-gate"};
    tcp::acceptor acceptor;
    tcp::endpoint own;
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
    return impl_->own.port();
}
std::string tcp_gate::host_port() const {
    return "127.0.0.1:" + std::to_string(port());
}

void tcp_gate::pass() {
    impl_->on_loop([this] {
        impl_->swallow = false;
        for (const auto& l : impl_->links)
            l->wake();
    });
}
void tcp_gate::black_hole() {
    impl_->on_loop([this] { impl_->swallow = true; });
}
void tcp_gate::delay(gate::way way, milliseconds time) {
    impl_->on_loop([this, way, time] {
        impl_->delays[static_cast<std::size_t>(way)] = time;
        for (const auto& l : impl_->links)
            l->wake();
    });
}
void tcp_gate::stop_accepting() {
    impl_->on_loop([this] { impl_->stop_listening(); });
}
void tcp_gate::accept_again() {
    impl_->on_loop([this] { impl_->listen_again(); });
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
    impl_->on_loop([this, bytes] { impl_->plan.reset_after(bytes); });
}
void tcp_gate::cut_at(gate::cut where) {
    impl_->on_loop([this, where] { impl_->plan.set(where); });
}
void tcp_gate::no_cut() {
    impl_->on_loop([this] { impl_->plan.set(std::nullopt); });
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
std::size_t tcp_gate::cuts() const {
    std::size_t out = 0;
    impl_->on_loop([this, &out] { out = impl_->plan.cuts(); });
    return out;
}
std::vector<std::size_t> tcp_gate::messages(gate::way way) const {
    std::vector<std::size_t> out;
    impl_->on_loop([this, way, &out] { out = impl_->plan.passed(way); });
    return out;
}

} // namespace cdc::test
