// SPDX-License-Identifier: Apache-2.0
// Broken connections, TLS refusals, and many clients at once.
#include "core/bson/builder.hpp"
#include "sources/mongodb/client/client.hpp"
#include "sources/mongodb/cursor/client_command_runner.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/fake_server.hpp"
#include "tests/support/lateness.hpp"
#include "tests/support/tcp_gate.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace asio = boost::asio;
using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
using error::errc;
using mongodb::client::client;

namespace {

bson::document get_more() {
    return bson::builder().int64("getMore", 4711).string("collection", "c").finish();
}

asio::awaitable<error::diagnostics> try_connect(driver_fixture& f, std::string uri) {
    auto options = f.options(std::move(uri));
    auto opened = co_await client::open(f.executor(), f.blocking, options, f.logger);
    REQUIRE(opened);
    auto found = co_await (*opened)->connect();
    co_await (*opened)->stop();
    if (found)
        co_return error::diagnostics{};
    co_return found.error();
}

/// Connects, then has the connection reset `after` bytes of the next reply.
asio::awaitable<void> reset_within_reply(driver_fixture& f, tcp_gate& gate, std::string uri,
                                         std::size_t after) {
    auto options = f.options(std::move(uri));
    auto opened = co_await client::open(f.executor(), f.blocking, options, f.logger);
    REQUIRE(opened);
    auto& c = **opened;
    auto found = co_await c.connect();
    REQUIRE(found);
    auto whole = co_await c.command("db", get_more());
    REQUIRE(whole);
    gate.reset_after(after);
    auto broken = co_await c.command("db", get_more());
    REQUIRE(!broken);
    CHECK(broken.error().code == errc::network);
    co_await pause_for(550ms);
    auto again = co_await c.connect();
    REQUIRE(again);
    auto fresh = co_await c.command("db", get_more());
    REQUIRE(fresh);
    CHECK(fresh->size() == whole->size());
    co_await c.stop();
}

/// A server behind a gate that cuts the connection `after` bytes of the very first answer.
struct cut_hello {
    explicit cut_hello(std::size_t after) {
        server.set_hosts({gate.host_port()});
        gate.cut_at({gate::way::to_client, 0, after});
    }
    fake_server server{{}};
    tcp_gate gate{server.port()};
};

asio::awaitable<void> found_again(driver_fixture& f, cut_hello& s) {
    auto options = f.options("mongodb://" + s.gate.host_port() + "/?replicaSet=rs0");
    auto opened = co_await client::open(f.executor(), f.blocking, options, f.logger);
    REQUIRE(opened);
    auto& c = **opened;
    auto broken = co_await c.connect();
    REQUIRE(!broken);
    CHECK(broken.error().code == errc::network);
    CHECK(s.gate.cuts() == 1);
    // The driver leaves a member alone for five seconds after a failed hello.
    const auto limit = std::chrono::steady_clock::now() + 20s;
    bool found = false;
    while (!found && std::chrono::steady_clock::now() < limit) {
        co_await pause_for(550ms);
        auto again = co_await c.connect();
        found = again.has_value();
    }
    CHECK(found);
    co_await c.stop();
}

/// `rounds` echoes with this client's own numbers, through whatever faults come.
asio::awaitable<void> echo_rounds(driver_fixture& f, asio::any_io_executor reactor, std::string uri,
                                  int number, int rounds, std::atomic<int>& wrong,
                                  std::atomic<int>& faults, std::atomic<int>& echoes) {
    auto options = f.options(std::move(uri));
    auto opened = co_await client::open(reactor, f.blocking, options, f.logger);
    if (!opened) {
        ++wrong;
        co_return;
    }
    auto& c = **opened;
    std::minstd_rand random(static_cast<unsigned>(number));
    bool connected = false;
    for (int done = 0; done < rounds;) {
        if (!connected) {
            auto found = co_await c.connect();
            connected = static_cast<bool>(found);
            if (!connected) {
                ++faults;
                if (found.error().code != errc::network && found.error().code != errc::timeout)
                    ++wrong;
                co_await pause_for(std::chrono::milliseconds(550 + random() % 200));
                continue;
            }
        }
        const int tag = number * 1000 + done;
        auto echo = bson::builder().int32("echo", tag).finish();
        auto reply = co_await c.command("db", std::move(echo));
        if (reply) {
            const auto back = bson::find(*reply, "echo");
            if (!back || back->as_integer() != tag)
                ++wrong;
            ++done;
            ++echoes;
            continue;
        }
        ++faults;
        if (reply.error().code != errc::network && reply.error().code != errc::timeout)
            ++wrong;
        connected = false;
        co_await pause_for(std::chrono::milliseconds(550 + random() % 200));
    }
    co_await c.stop();
}

} // namespace

TEST_CASE("a reset inside a reply is one clean error", "[driver]") {
    driver_fixture f;
    fake_server server({});
    tcp_gate gate(server.port());
    server.set_hosts({gate.host_port()});
    const auto uri = "mongodb://" + gate.host_port() + "/?replicaSet=rs0";
    for (const std::size_t after : {0, 1, 3, 4, 15, 16, 20, 21, 4000, 4097, 20000, 41000})
        await_on(f.reactor, reset_within_reply(f, gate, uri, after));
    CHECK(f.usleeps() == 0);
}

TEST_CASE("a member that goes within its first answer is found again", "[driver]") {
    driver_fixture f;
    std::vector<std::unique_ptr<cut_hello>> servers;
    std::vector<std::future<void>> clients;
    // The answer says who is primary long before its end.
    for (const std::size_t after : {0, 17, 100, 200, 300})
        servers.push_back(std::make_unique<cut_hello>(after));
    for (const auto& s : servers)
        clients.push_back(asio::co_spawn(f.executor(), found_again(f, *s), asio::use_future));
    for (auto& c : clients)
        c.get();
    CHECK(f.usleeps() == 0);
}

TEST_CASE("a connection closed in order is a network error, and the next one works", "[driver]") {
    driver_fixture f;
    fake_server server({});
    tcp_gate gate(server.port());
    server.set_hosts({gate.host_port()});
    auto work = [](driver_fixture& fx, tcp_gate& g) -> asio::awaitable<void> {
        auto options = fx.options("mongodb://" + g.host_port() + "/?replicaSet=rs0");
        auto opened = co_await client::open(fx.executor(), fx.blocking, options, fx.logger);
        REQUIRE(opened);
        auto found = co_await (*opened)->connect();
        REQUIRE(found);
        g.cut_all();
        auto lost = co_await (*opened)->command("db", get_more());
        REQUIRE(!lost);
        CHECK(lost.error().code == errc::network);
        co_await pause_for(550ms);
        auto again = co_await (*opened)->connect();
        REQUIRE(again);
        auto fresh = co_await (*opened)->command("db", get_more());
        CHECK(fresh);
        co_await (*opened)->stop();
    };
    await_on(f.reactor, work(f, gate));
    CHECK(f.usleeps() == 0);
}

TEST_CASE("a black-holed reply ends at the socket timeout", "[driver]") {
    driver_fixture f;
    fake_server server({});
    tcp_gate gate(server.port());
    server.set_hosts({gate.host_port()});
    auto work = [](driver_fixture& fx, tcp_gate& g) -> asio::awaitable<void> {
        auto options = fx.options("mongodb://" + g.host_port() + "/?replicaSet=rs0");
        options.socket_timeout = 300ms;
        options.connect_timeout = 300ms;
        auto opened = co_await client::open(fx.executor(), fx.blocking, options, fx.logger);
        REQUIRE(opened);
        auto found = co_await (*opened)->connect();
        REQUIRE(found);
        g.black_hole();
        auto silent = co_await (*opened)->command("db", get_more());
        REQUIRE(!silent);
        CHECK(silent.error().code == errc::timeout);
        g.pass();
        co_await pause_for(550ms);
        auto again = co_await (*opened)->connect();
        CHECK(again);
        // The hole is still there when it looks for the server: that passes too.
        g.black_hole();
        silent = co_await (*opened)->command("db", get_more());
        REQUIRE(!silent);
        co_await pause_for(550ms);
        auto hidden = co_await (*opened)->connect();
        REQUIRE(!hidden);
        CHECK(hidden.error().code == errc::network);
        INFO(hidden.error().describe());
        CHECK(hidden.error().text.find("hello") != std::string::npos);
        co_await (*opened)->stop();
    };
    await_on(f.reactor, work(f, gate));
    CHECK(f.usleeps() == 0);
}

TEST_CASE("fault 164: TLS checks authority and host name, and tells the reason",
          "[driver][fault-164]") {
    driver_fixture f;
    certificates files;
    fake_server::options good;
    good.tls.certificate_and_key_pem = files.server();
    fake_server server(good);
    fake_server::options elsewhere;
    elsewhere.tls.certificate_and_key_pem = files.wrong_name_server();
    fake_server wrong_name(elsewhere);
    fake_server::options mutual = good;
    mutual.tls.client_ca_pem = files.ca();
    fake_server wants_client(mutual);
    const auto uri = [](const fake_server& s, const std::string& more) {
        return "mongodb://" + s.host_port() + "/?replicaSet=rs0&tls=true&tlsCAFile=" + more;
    };
    const auto connect = [&](const std::string& u) {
        return await_on(f.reactor, try_connect(f, u));
    };

    CHECK(connect(uri(server, files.ca())).text.empty());
    const auto unknown = connect(uri(server, files.other_ca()));
    CHECK(unknown.code == errc::network);
    CHECK(unknown.text.find("certificate verify failed") != std::string::npos);
    CHECK(!connect(uri(wrong_name, files.ca())).text.empty());
    CHECK(connect(uri(wrong_name, files.ca() + "&tlsAllowInvalidHostnames=true")).text.empty());
    CHECK(!connect(uri(server, files.other_ca() + "&tlsAllowInvalidHostnames=true")).text.empty());
    CHECK(
        connect(uri(server, files.other_ca() + "&tlsAllowInvalidCertificates=true")).text.empty());
    CHECK(!connect(uri(wants_client, files.ca())).text.empty());
    CHECK(connect(uri(wants_client, files.ca() + "&tlsCertificateKeyFile=" + files.client()))
              .text.empty());
    CHECK(f.usleeps() == 0);
}

TEST_CASE("fault 165: a TLS handshake that fails is an error like a cut, and the next one works",
          "[driver][fault-165]") {
    driver_fixture f;
    certificates files;
    fake_server::options o;
    o.tls.certificate_and_key_pem = files.server();
    fake_server server(o);
    tcp_gate gate(server.port());
    server.set_hosts({gate.host_port()});
    const auto uri =
        "mongodb://" + gate.host_port() + "/?replicaSet=rs0&tls=true&tlsCAFile=" + files.ca();
    auto work = [](driver_fixture& fx, tcp_gate& g, std::string u) -> asio::awaitable<void> {
        auto options = fx.options(std::move(u));
        mongodb::cursor::client_command_runner runner(fx.executor(), fx.blocking, options,
                                                      fx.logger);
        g.reset_after(200); // in the middle of the server's first answer
        auto broken = co_await runner.connect();
        REQUIRE(!broken);
        CHECK(broken.error().code == errc::network); // which is tried again without end
        auto again = co_await runner.connect();
        CHECK(again);
        co_await runner.stop();
    };
    await_on(f.reactor, work(f, gate, uri));
    CHECK(f.usleeps() == 0);
}

TEST_CASE("fault 165: an X.509 login names the certificate's subject", "[driver][fault-165]") {
    driver_fixture f;
    certificates files;
    fake_server::options o;
    o.tls.certificate_and_key_pem = files.server();
    o.tls.client_ca_pem = files.ca();
    fake_server server(o);
    std::mutex mutex;
    std::string mechanism, user, db;
    server.on_command([&](const wire::request& r) -> std::optional<bson::document> {
        if (r.command != "authenticate")
            return std::nullopt;
        const std::lock_guard lock(mutex);
        db = r.db;
        mechanism = bson::find(r.body, "mechanism")->as_string();
        if (const auto name = bson::find(r.body, "user"))
            user = name->as_string();
        return std::nullopt;
    });
    const auto uri =
        "mongodb://" + server.host_port() +
        "/?replicaSet=rs0&authMechanism=MONGODB-X509&tls=true&tlsCAFile=" + files.ca() +
        "&tlsCertificateKeyFile=" + files.client();
    CHECK(await_on(f.reactor, try_connect(f, uri)).text.empty());
    const std::lock_guard lock(mutex);
    CHECK(mechanism == "MONGODB-X509");
    CHECK(db == "$external");
    CHECK(user == "CN=test client");
    CHECK(f.usleeps() == 0);
}

TEST_CASE("200 clients on two reactors through resets, over TLS", "[driver]") {
    driver_fixture f;
    runtime::reactor second("test-reactor-2");
    certificates files;
    fake_server::options o;
    o.tls.certificate_and_key_pem = files.server();
    fake_server server(o);
    server.on_command([](const wire::request& r) -> std::optional<bson::document> {
        if (r.command != "echo")
            return std::nullopt;
        bson::builder b;
        b.value("echo", *bson::find(r.body, "echo")).float64("ok", 1.0);
        return b.finish();
    });
    tcp_gate gate(server.port());
    server.set_hosts({gate.host_port()});
    const auto uri =
        "mongodb://" + gate.host_port() + "/?replicaSet=rs0&tls=true&tlsCAFile=" + files.ca();
    constexpr int clients = 200, rounds = 60;
    std::atomic<int> wrong{0}, faults{0}, echoes{0};
    lateness late({&f.reactor, &second});
    std::vector<std::future<void>> running;
    for (int i = 0; i < clients; ++i) {
        const auto reactor = i % 2 ? second.executor() : f.executor();
        running.push_back(
            asio::co_spawn(reactor, echo_rounds(f, reactor, uri, i, rounds, wrong, faults, echoes),
                           asio::use_future));
    }
    // Resets while all are connecting, and at several points of the work.
    for (const int at : {1, 1000, 3000, 6000, 9000}) {
        eventually([&] { return echoes >= at; });
        gate.reset_all();
    }
    for (auto& r : running) {
        REQUIRE(r.wait_for(60s) == std::future_status::ready);
        r.get();
    }
    CHECK(echoes == clients * rounds);
    CHECK(wrong == 0);
    CHECK(faults > 0);
    CHECK(f.usleeps() == 0);
    CHECK(late.stop("200 clients over TLS") < 3);
}
