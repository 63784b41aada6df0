// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "sources/mongodb/client/client.hpp"
#include "sources/mongodb/client/fiber_stack.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/process_counts.hpp"
#include "tests/support/standin/replica_set.hpp"
#include "tests/support/tcp_gate.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <utility>

namespace asio = boost::asio;
using namespace cdc;
using namespace cdc::test;
using error::errc;
using mongodb::client::client;
using mongodb::client::fiber_stack;

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

TEST_CASE("fault 159: a password of any characters, apart or percent-encoded once",
          "[driver][fault-159]") {
    driver_fixture f;
    const std::string hard = R"(a1?~!@#$%^&*(){}[]<>.,+_-=/\|:;)";
    const std::string looks_encoded = "p%41%2541";
    standin::replica_set_options o;
    o.users.push_back({"hard", hard, {"readAnyDatabase"}});
    o.users.push_back({"looks", looks_encoded, {"readAnyDatabase"}});
    standin::replica_set set(o);
    const auto encoded = [](const std::string& text) {
        std::string out;
        for (const char c : text)
            out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        return out;
    };
    for (const auto& [user, password] : {std::pair{"hard", hard}, {"looks", looks_encoded}}) {
        CAPTURE(user);
        auto apart = f.options(set.uri());
        apart.user = user;
        apart.password = password;
        CHECK(await_on(f.reactor, try_connect(f, apart)).text.empty());
        const auto in_uri = [&](const std::string& written) {
            return f.options(
                fmt::format("mongodb://{}:{}@{}/?replicaSet=rs0", user, written, set.host_port()));
        };
        CHECK(await_on(f.reactor, try_connect(f, in_uri(encoded(password)))).text.empty());
        const auto twice = in_uri(encoded(encoded(password)));
        CHECK(await_on(f.reactor, try_connect(f, twice)).code == errc::authentication);
    }
    CHECK(f.log->count(hard) == 0);
}

TEST_CASE("fault 161: authSource decides which user of a name it is", "[driver][fault-161]") {
    driver_fixture f;
    standin::replica_set_options o;
    o.users.push_back({"cdc", "of-admin", {"readAnyDatabase"}});
    o.users.push_back({"cdc", "of-db1", {"read@db1"}, "db1"});
    standin::replica_set set(o);
    const auto apart = [&](const std::string& password, const std::string& source) {
        auto options = f.options(set.uri());
        options.user = "cdc";
        options.password = password;
        options.auth_source = source;
        return await_on(f.reactor, try_connect(f, options)).code;
    };
    const auto in_uri = [&](const std::string& password, const std::string& rest) {
        auto options = f.options("mongodb://cdc:" + password + "@" + set.host_port() + "/" + rest);
        return await_on(f.reactor, try_connect(f, options)).code;
    };
    const errc good = error::diagnostics{}.code;
    CHECK(apart("of-db1", "db1") == good);
    CHECK(apart("of-admin", "admin") == good);
    CHECK(apart("of-admin", "db1") == errc::authentication);
    CHECK(apart("of-db1", "admin") == errc::authentication);
    CHECK(in_uri("of-db1", "?authSource=db1") == good);
    CHECK(in_uri("of-admin", "?replicaSet=rs0") == good);
    CHECK(in_uri("of-db1", "other?authSource=db1") == good);
    CHECK(in_uri("of-admin", "?authSource=db1") == errc::authentication);
}

TEST_CASE("fault 103: 200 wrong passwords leave nothing behind", "[driver][fault-103]") {
    driver_fixture f;
    standin::replica_set set(with_user());
    auto options = f.options(set.uri());
    options.user = "cdc";
    options.password = "wrong";
    const auto try_once = [&] {
        return await_on(f.reactor, try_connect(f, options)).code == errc::authentication;
    };
    CHECK(try_once());
    REQUIRE(eventually([&] { return set.open_connections() == 0; }));
    const auto stacks = fiber_stack::count();
    const auto descriptors = open_descriptors();
    std::size_t refused = 0;
    for (int i = 0; i < 200; ++i)
        refused += try_once();
    CHECK(refused == 200);
    CHECK(eventually([&] { return set.open_connections() == 0; }));
    CHECK(fiber_stack::count() == stacks);
    CHECK(eventually([&] { return open_descriptors() == descriptors; }));
    CHECK(f.usleeps() == 0);
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

TEST_CASE("faults 160 and 166: connection strings that cannot work are refused, not shown",
          "[driver][fault-160][fault-166]") {
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
