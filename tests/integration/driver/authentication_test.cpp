// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "sources/mongodb/client/client.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/standin/replica_set.hpp"
#include "tests/support/tcp_gate.hpp"

#include <charconv>
#include <string>

namespace asio = boost::asio;
using namespace cdc;
using namespace cdc::test;
using error::errc;
using mongodb::client::client;

namespace {

asio::awaitable<error::diagnostics> try_connect(driver_fixture& f,
                                                mongodb::client::client_options options) {
    auto opened = co_await client::open(f.executor(), f.blocking, options, f.logger);
    REQUIRE(opened);
    auto found = co_await (*opened)->connect();
    co_await (*opened)->stop();
    co_return found ? error::diagnostics{} : found.error();
}

standin::replica_set_options with_user() {
    standin::replica_set_options o;
    o.users.push_back({"cdc", "right", {"readAnyDatabase"}});
    return o;
}

} // namespace

TEST_CASE("SCRAM-SHA-256 on a fiber: right and wrong passwords", "[driver]") {
    driver_fixture f;
    standin::replica_set set(with_user());
    const auto host = set.host_port();
    const auto in_uri = [&](const std::string& password) {
        return f.options("mongodb://cdc:" + password + "@" + host + "/?replicaSet=rs0");
    };
    CHECK(await_on(f.reactor, try_connect(f, in_uri("right"))).text.empty());

    const auto wrong = await_on(f.reactor, try_connect(f, in_uri("wrong")));
    CHECK(wrong.code == errc::authentication);
    CHECK(wrong.server_code == 18);

    auto apart = f.options(set.uri());
    apart.user = "cdc";
    apart.password = "right";
    CHECK(await_on(f.reactor, try_connect(f, apart)).text.empty());
    CHECK(f.usleeps() == 0);

    // Recursion is what costs stack; key derivation and hello do not.
    for (const auto& line : f.log->lines()) {
        const std::string mark = "the driver used ";
        const auto at = line.find(mark);
        if (at == std::string::npos)
            continue;
        std::size_t used = 0;
        std::from_chars(line.data() + at + mark.size(), line.data() + line.size(), used);
        CHECK(used > 1024);
        CHECK(used < 64 * 1024);
    }
}

TEST_CASE("a connection lost while authenticating is no failed authentication", "[driver]") {
    driver_fixture f;
    standin::replica_set set(with_user());
    tcp_gate gate(set.port());
    set.advertise(gate.host_port());
    auto options = f.options("mongodb://cdc:right@" + gate.host_port() + "/?replicaSet=rs0");
    // The hello reply is some hundred bytes, the SASL replies follow; every cut must be a network
    // error, until one lies behind the whole exchange.
    int broken = 0;
    for (std::size_t after = 10;; after += 60) {
        gate.reset_after(after);
        const auto found = await_on(f.reactor, try_connect(f, options));
        if (found.text.empty())
            break;
        CAPTURE(after, found.describe());
        CHECK(found.code == errc::network);
        ++broken;
    }
    CHECK(broken > 10);
    CHECK(f.usleeps() == 0);
}

TEST_CASE("server errors carry code, name and text", "[driver]") {
    driver_fixture f;
    standin::replica_set set;
    auto work = [](driver_fixture& fx, std::string uri) -> asio::awaitable<void> {
        auto options = fx.options(std::move(uri));
        auto opened = co_await client::open(fx.executor(), fx.blocking, options, fx.logger);
        REQUIRE(opened);
        auto& c = **opened;
        auto early = bson::builder().int32("ping", 1).finish();
        auto not_connected = co_await c.command("db", std::move(early));
        REQUIRE(!not_connected);
        CHECK(not_connected.error().code == errc::closed);
        auto found = co_await c.connect();
        REQUIRE(found);
        CHECK(found->set_name == "rs0");
        CHECK(found->server_type == "RSPrimary");
        auto more = bson::builder().int64("getMore", 12345).string("collection", "c").finish();
        auto unknown = co_await c.command("db", std::move(more));
        REQUIRE(!unknown);
        CHECK(unknown.error().code == errc::server);
        CHECK(unknown.error().server_code == 43);
        CHECK(unknown.error().server_code_name == "CursorNotFound");
        CHECK(!unknown.error().server_text.empty());
        auto ping = bson::builder().int32("ping", 1).finish();
        auto still_good = co_await c.command("db", std::move(ping));
        CHECK(still_good);
        co_await c.stop();
    };
    await_on(f.reactor, work(f, set.uri()));
}

TEST_CASE("a server of another set is refused with a reason, also the second time", "[driver]") {
    driver_fixture f;
    standin::replica_set set;
    auto work = [](driver_fixture& fx, std::string host) -> asio::awaitable<void> {
        auto options = fx.options("mongodb://" + host + "/?replicaSet=other");
        auto opened = co_await client::open(fx.executor(), fx.blocking, options, fx.logger);
        REQUIRE(opened);
        for (int attempt = 0; attempt < 2; ++attempt) {
            auto found = co_await (*opened)->connect();
            REQUIRE(!found);
            CHECK(found.error().code == errc::network);
            CHECK(found.error().text.find("is replicaSet right?") != std::string::npos);
            co_await pause_for(std::chrono::milliseconds(550));
        }
        co_await (*opened)->stop();
    };
    await_on(f.reactor, work(f, set.host_port()));
    CHECK(f.usleeps() == 0);
}

TEST_CASE("connection strings that cannot work are refused without being shown", "[driver]") {
    driver_fixture f;
    const auto refusal = [&](const std::string& uri) {
        auto work = [](driver_fixture& fx, std::string u) -> asio::awaitable<error::diagnostics> {
            auto options = fx.options(std::move(u));
            auto opened = co_await client::open(fx.executor(), fx.blocking, options, fx.logger);
            if (opened) {
                co_await (*opened)->stop();
                co_return error::diagnostics{};
            }
            co_return opened.error();
        };
        return await_on(f.reactor, work(f, uri));
    };
    for (const char* uri : {"http://u:hunter22@h/", "mongodb://u:hunter22%zz@h/", "mongodb://",
                            "mongodb://%2Ftmp%2Fmongodb-27017.sock/",
                            "mongodb://u:hunter22@h/?tls=true&tlsCAFile=/nowhere/ca.pem"}) {
        const auto d = refusal(uri);
        CAPTURE(uri, d.describe());
        CHECK(d.code == errc::configuration);
        CHECK(d.describe().find("hunter22") == std::string::npos);
    }
    CHECK(refusal("mongodb+srv://u:hunter22@cluster.name.invalid/").code == errc::network);
    CHECK(f.log->count("hunter22") == 0);
}
