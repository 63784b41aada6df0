// SPDX-License-Identifier: Apache-2.0
// Calls that are broken off, and what the next connection finds.
#include "core/bson/builder.hpp"
#include "sources/mongodb/cursor/client_command_runner.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/fake_server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

namespace asio = boost::asio;
using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
using error::errc;
using mongodb::cursor::client_command_runner;
using clock_type = std::chrono::steady_clock;

namespace {

bson::document ping() {
    return bson::builder().int32("ping", 1).finish();
}
bson::document get_more() {
    return bson::builder().int64("getMore", 4711).string("collection", "c").finish();
}

struct outcome {
    std::size_t suspensions = 0;
    clock_type::duration until_ended{};
};

/// connect, a large command, a large reply; broken off at the `at`-th suspension (0: never). Then
/// the runner must be good again, at once.
asio::awaitable<outcome> life(driver_fixture& f, std::string uri, std::size_t at) {
    auto options = f.options(std::move(uri));
    client_command_runner runner(f.executor(), f.blocking, options, f.logger);
    outcome out;
    std::optional<clock_type::time_point> broken_off;
    bool over = false;
    runner.on_suspend([&](std::size_t n) {
        if (broken_off || over)
            return;
        out.suspensions = n;
        if (n == at) {
            broken_off = clock_type::now();
            runner.interrupt();
        }
    });
    auto found = co_await runner.connect();
    error::result<bson::document> reply = error::fail(errc::internal, "none");
    if (found) {
        auto big =
            bson::builder().int32("ping", 1).string("pad", std::string(8 << 20, 'x')).finish();
        reply = co_await runner.command("db", std::move(big));
        if (reply) {
            auto more = get_more();
            reply = co_await runner.command("db", std::move(more));
        }
    }
    over = true;
    if (broken_off) {
        out.until_ended = clock_type::now() - *broken_off;
        const auto& why = found ? reply.error() : found.error();
        CHECK(why.code == errc::network);
        CHECK(why.text == "the connection was given up");
        auto still = ping();
        auto refused = co_await runner.command("db", std::move(still));
        REQUIRE(!refused);
        CHECK(refused.error().code == errc::network);
        auto again = co_await runner.connect();
        REQUIRE(again);
    } else {
        CHECK(reply);
    }
    auto last = ping();
    auto pong = co_await runner.command("db", std::move(last));
    CHECK(pong);
    co_await runner.stop();
    co_return out;
}

void interrupt_everywhere(const wire::tls_options& tls, const std::string& uri_options) {
    driver_fixture f;
    fake_server::options o;
    o.tls = tls;
    o.events_per_batch = 2000; // replies of 800 KB take several suspensions
    fake_server server(o);
    const auto uri = "mongodb://" + server.host_port() + "/?replicaSet=rs0" + uri_options;
    CHECK(await_on(f.reactor, life(f, uri, 0)).suspensions > 0);
    clock_type::duration slowest{};
    // The number of points differs from run to run: they are through when three lives in a row
    // ended before the next one.
    std::size_t at = 1;
    for (int ended_before = 0; ended_before < 3;) {
        auto did = await_on(f.reactor, life(f, uri, at));
        // A busy machine can hold anything up once; a fault holds it up every time.
        auto took = did.until_ended;
        for (int again = 0; again < 4 && took >= 100ms; ++again) {
            did = await_on(f.reactor, life(f, uri, at));
            took = std::min(took, did.until_ended);
        }
        slowest = std::max(slowest, took);
        const bool reached = did.suspensions >= at;
        at += reached;
        ended_before = reached ? 0 : ended_before + 1;
    }
    CHECK(at > 6);
    CHECK(slowest < 100ms);
    CHECK(eventually([&] { return server.server().open_connections() == 0; }));
    CHECK(f.usleeps() == 0);
}

asio::awaitable<std::string> connected_to(client_command_runner& runner) {
    auto found = co_await runner.connect();
    co_return found ? found->host : "nobody: " + found.error().describe();
}

fake_server::options secondary() {
    fake_server::options o;
    o.primary = false;
    return o;
}

struct pair_of_members {
    fake_server first{{}};
    std::optional<fake_server> second{std::in_place, secondary()};
    pair_of_members() {
        const std::vector<std::string> hosts = {first.host_port(), second->host_port()};
        first.set_hosts(hosts);
        second->set_hosts(hosts);
    }
    void elect_second() {
        first.primary(false);
        second->primary(true);
    }
};

asio::awaitable<void> new_primary(driver_fixture& f, pair_of_members& set) {
    // Only the first is named; the runner learns of the second.
    auto options = f.options("mongodb://" + set.first.host_port() + "/?replicaSet=rs0");
    client_command_runner runner(f.executor(), f.blocking, options, f.logger);
    CHECK(co_await connected_to(runner) == set.first.host_port());
    set.elect_second();
    runner.interrupt();
    CHECK(co_await connected_to(runner) == set.second->host_port());
    // The only host of the URI is silent now: the others are known.
    set.first.silent(true);
    runner.interrupt();
    CHECK(co_await connected_to(runner) == set.second->host_port());
    co_await runner.stop();
}

asio::awaitable<void> stays(driver_fixture& f, pair_of_members& set, std::string uri, bool option) {
    auto options = f.options(std::move(uri));
    options.stay_on_host = option;
    client_command_runner runner(f.executor(), f.blocking, options, f.logger);
    auto found = co_await runner.connect();
    REQUIRE(found);
    CHECK(found->host == set.second->host_port());
    CHECK(found->server_type == "RSSecondary");
    auto question = ping();
    auto pong = co_await runner.command("db", std::move(question));
    CHECK(pong);
    runner.interrupt();
    CHECK(co_await connected_to(runner) == set.second->host_port());
    co_await runner.stop();
}

asio::awaitable<void> refused(driver_fixture& f, std::string uri) {
    auto options = f.options(std::move(uri));
    options.stay_on_host = true;
    client_command_runner runner(f.executor(), f.blocking, options, f.logger);
    auto found = co_await runner.connect();
    REQUIRE(!found);
    CHECK(found.error().code == errc::configuration);
    CHECK(found.error().text.find("mongodb.members.auto.discover is false") != std::string::npos);
    co_await runner.stop();
}

} // namespace

TEST_CASE("a call broken off at every suspension point, and connected again", "[driver]") {
    interrupt_everywhere({}, "");
}

TEST_CASE("a call broken off at every suspension point over TLS", "[driver]") {
    certificates files;
    wire::tls_options tls;
    tls.certificate_and_key_pem = files.server();
    interrupt_everywhere(tls, "&tls=true&tlsCAFile=" + files.ca());
}

TEST_CASE("after an interrupt the new primary is found at once, from all known members",
          "[driver]") {
    driver_fixture f;
    pair_of_members set;
    await_on(f.reactor, new_primary(f, set));
    CHECK(f.usleeps() == 0);
}

TEST_CASE("a single host leads to the primary, unless the connector is to stay on it", "[driver]") {
    driver_fixture f;
    pair_of_members set;
    std::atomic<int> pings{0}, preferring_the_primary{0};
    set.second->on_command([&](const wire::request& r) -> std::optional<bson::document> {
        if (r.command == "ping") {
            ++pings;
            const auto mode = bson::find_path(r.body, "$readPreference.mode");
            if (mode && mode->as_string() == "primaryPreferred")
                ++preferring_the_primary;
        }
        return std::nullopt;
    });
    const auto second = "mongodb://" + set.second->host_port() + "/";
    client_command_runner runner(f.executor(), f.blocking, f.options(second), f.logger);
    auto work = [](client_command_runner& r, std::string primary) -> asio::awaitable<void> {
        CHECK(co_await connected_to(r) == primary);
        co_await r.stop();
    };
    await_on(f.reactor, work(runner, set.first.host_port()));
    CHECK(pings == 0);

    await_on(f.reactor, stays(f, set, second + "?directConnection=true", false));
    await_on(f.reactor, stays(f, set, second + "?directConnection=true&replicaSet=rs0", false));
    await_on(f.reactor, stays(f, set, second, true));
    await_on(f.reactor, stays(f, set, second + "?directConnection=false", true));
    // What a secondary demands of whoever wants to read from it.
    CHECK(pings > 0);
    CHECK(preferring_the_primary == pings);
    await_on(f.reactor, refused(f, "mongodb://127.0.0.1:1,127.0.0.1:2/"));
    await_on(f.reactor, refused(f, "mongodb+srv://cluster.name.invalid/"));
    CHECK(f.usleeps() == 0);
}
