// SPDX-License-Identifier: Apache-2.0
// The gate itself: what both sides of a connection through it see of each fault.
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tcp_gate.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <sys/time.h>

#include <chrono>
#include <future>
#include <string>

using namespace cdc::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

std::string message(std::size_t size) {
    std::string out(size, 'm');
    for (std::size_t i = 0; i < 4; ++i)
        out[i] = static_cast<char>(size >> (8 * i) & 0xff);
    return out;
}

/// What one side read until the connection's end, and how that came.
struct heard {
    std::string bytes;
    boost::system::error_code end;
};

/// A server that accepts on the test's own thread, a gate, and a client.
struct two_sides {
    asio::io_context io;
    tcp::acceptor acceptor{io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    tcp_gate gate{acceptor.local_endpoint().port()};
    tcp::socket client{io};
    tcp::socket server{io};

    void connect() {
        client = tcp::socket(io);
        client.connect({asio::ip::address_v4::loopback(), gate.port()});
        server = acceptor.accept();
        for (auto* s : {&client, &server}) {
            // A hang is a failure, not a wait.
            const timeval limit{20, 0};
            ::setsockopt(s->native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        }
    }
    static std::string take(tcp::socket& from, std::size_t size) {
        std::string out(size, '\0');
        out.resize(asio::read(from, asio::buffer(out)));
        return out;
    }
    static heard rest(tcp::socket& from) {
        heard out;
        asio::read(from, asio::dynamic_buffer(out.bytes), out.end);
        return out;
    }
    /// Both directions work.
    void echo() {
        asio::write(client, asio::buffer(message(40)));
        CHECK(take(server, 40) == message(40));
        asio::write(server, asio::buffer(message(50)));
        CHECK(take(client, 50) == message(50));
    }
};

} // namespace

TEST_CASE("the gate cuts within a message and at its end, each way, by RST and by FIN",
          "[driver][gate]") {
    for (const auto way : {gate::way::to_server, gate::way::to_client})
        for (const bool reset : {true, false})
            for (const std::size_t bytes : {0, 1, 4, 15, 16, 17, 99, 150000}) {
                INFO("to the client: " << (way == gate::way::to_client) << ", reset: " << reset
                                       << ", bytes: " << bytes);
                two_sides t;
                t.gate.cut_at({way, 2, bytes, reset});
                t.connect();
                t.echo();
                auto& from = way == gate::way::to_client ? t.server : t.client;
                auto& to = way == gate::way::to_client ? t.client : t.server;
                const auto second = message(300000);
                const auto third = message(100000);
                // Beside the reading: together they are more than the systems hold.
                auto written = std::async(std::launch::async, [&] {
                    boost::system::error_code ignored;
                    asio::write(from, asio::buffer(second), ignored);
                    asio::write(from, asio::buffer(third), ignored);
                });
                const auto got = t.rest(to);
                written.get();
                CHECK(got.bytes.size() == 300000 + std::min(bytes, third.size()));
                CHECK(got.end == (reset ? boost::system::error_code(asio::error::connection_reset)
                                        : boost::system::error_code(asio::error::eof)));
                CHECK(t.rest(from).bytes.empty());
                CHECK(t.gate.cuts() == 1);
                CHECK(t.gate.messages(way).size() == (bytes >= third.size() ? 3 : 2));
                // Once.
                t.connect();
                t.echo();
                t.echo();
                CHECK(t.gate.cuts() == 1);
            }
}

TEST_CASE("the gate can cut every connection at its own point", "[driver][gate]") {
    two_sides t;
    t.gate.cut_at({gate::way::to_server, 1, 7, true, true});
    for (int i = 0; i < 3; ++i) {
        t.connect();
        asio::write(t.client, asio::buffer(message(40) + message(40)));
        CHECK(t.rest(t.server).bytes.size() == 47);
    }
    CHECK(t.gate.cuts() == 3);
    t.gate.no_cut();
    t.connect();
    t.echo();
    t.echo();
    // Before any message: nobody gets that far.
    t.gate.cut_at({gate::way::to_client, 0, 0, false, true});
    t.connect();
    CHECK(t.rest(t.client).end == asio::error::eof);
    CHECK(t.gate.cuts() == 4);
}

TEST_CASE("nothing passes the other way behind a cut", "[driver][gate]") {
    two_sides t;
    t.connect();
    t.gate.cut_at({gate::way::to_client, 1, 0});
    asio::write(t.server, asio::buffer(message(40)));
    CHECK(t.take(t.client, 40) == message(40));
    boost::system::error_code ignored;
    asio::write(t.client, asio::buffer(message(60)), ignored);
    CHECK(t.rest(t.server).bytes.empty());
}

TEST_CASE("a gate that does not accept refuses, keeps its port, and leaves others alone",
          "[driver][gate]") {
    two_sides t;
    t.connect();
    t.gate.stop_accepting();
    t.gate.stop_accepting(); // no difference
    tcp::socket refused(t.io);
    boost::system::error_code ec;
    refused.connect({asio::ip::address_v4::loopback(), t.gate.port()}, ec);
    CHECK(ec == asio::error::connection_refused);
    t.echo();
    t.gate.accept_again();
    t.gate.accept_again();
    t.connect();
    t.echo();
    CHECK(t.gate.accepted() == 2);
}

TEST_CASE("a delay holds back one direction, also when it is changed meanwhile", "[driver][gate]") {
    two_sides t;
    t.connect();
    t.gate.delay(gate::way::to_client, 80ms);
    for (int i = 0; i < 2; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        t.echo();
        CHECK(std::chrono::steady_clock::now() - begin >= 80ms);
    }
    // An hour, until it is taken back.
    t.gate.delay(gate::way::to_client, 3600s);
    asio::write(t.client, asio::buffer(message(40)));
    CHECK(t.take(t.server, 40) == message(40));
    asio::write(t.server, asio::buffer(message(50)));
    CHECK(t.client.available() == 0);
    t.gate.delay(gate::way::to_client, 0ms);
    CHECK(t.take(t.client, 50) == message(50));
}

TEST_CASE("a black hole swallows both directions and gives everything back", "[driver][gate]") {
    two_sides t;
    t.connect();
    t.gate.black_hole();
    asio::write(t.client, asio::buffer(message(40)));
    asio::write(t.server, asio::buffer(message(50)));
    tcp::socket later(t.io);
    later.connect({asio::ip::address_v4::loopback(), t.gate.port()});
    CHECK(eventually([&] { return t.gate.accepted() == 2; }));
    CHECK(t.client.available() == 0);
    CHECK(t.server.available() == 0);
    t.gate.pass();
    CHECK(t.take(t.server, 40) == message(40));
    CHECK(t.take(t.client, 50) == message(50));
    CHECK(eventually([&] { return t.gate.open_connections() == 2; }));
}
