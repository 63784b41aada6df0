// SPDX-License-Identifier: Apache-2.0
// Dead, silent and vanishing members of a set.
#include "core/bson/builder.hpp"
#include "sources/mongodb/client/client.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/fake_server.hpp"
#include "tests/support/lateness.hpp"

#include <chrono>
#include <optional>

namespace asio = boost::asio;
using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
using error::errc;
using mongodb::client::client;
using clock_type = std::chrono::steady_clock;

namespace {

bson::document ping() {
    return bson::builder().int32("ping", 1).finish();
}

asio::awaitable<std::unique_ptr<client>> open(driver_fixture& f, std::string uri) {
    auto options = f.options(std::move(uri));
    auto opened = co_await client::open(f.executor(), f.blocking, options, f.logger);
    REQUIRE(opened);
    co_return std::move(*opened);
}

struct silent_pair {
    fake_server first{{}};
    fake_server second{{}};
    silent_pair() {
        first.silent(true);
        second.silent(true);
    }
};

asio::awaitable<void> live_primary(driver_fixture& f, fake_server& primary, silent_pair& dead) {
    const auto uri = "mongodb://" + dead.first.host_port() + "," + primary.host_port() + "," +
                     dead.second.host_port() + "/?replicaSet=rs0";
    auto c = co_await open(f, uri);
    auto begin = clock_type::now();
    auto found = co_await c->connect();
    REQUIRE(found);
    CHECK(found->host == primary.host_port());
    // The primary answers at once; the silent ones cost the grace time, not a connect timeout.
    CHECK(clock_type::now() - begin < 1500ms);

    begin = clock_type::now();
    auto pong = co_await c->command("admin", ping());
    CHECK(pong);
    CHECK(clock_type::now() - begin < 200ms);

    primary.server().drop_connections();
    auto lost = co_await c->command("admin", ping());
    REQUIRE(!lost);
    CHECK(lost.error().code == errc::network);
    co_await pause_for(550ms);
    begin = clock_type::now();
    auto again = co_await c->connect();
    CHECK(again);
    // The dead members are in their cooldown.
    CHECK(clock_type::now() - begin < 1500ms);
    co_await c->stop();
}

asio::awaitable<void> no_primary(driver_fixture& f, silent_pair& dead) {
    auto c = co_await open(f, "mongodb://" + dead.first.host_port() + "," +
                                  dead.second.host_port() + "/?replicaSet=rs0");
    const auto begin = clock_type::now();
    auto found = co_await c->connect();
    REQUIRE(!found);
    CHECK((found.error().code == errc::network || found.error().code == errc::timeout));
    // Dialled in parallel: one connect timeout (2 s) for both, not one each.
    const auto took = clock_type::now() - begin;
    CHECK(took >= 1900ms);
    CHECK(took < 3500ms);
    co_await c->stop();
}

asio::awaitable<void> member_vanishes(driver_fixture& f, fake_server& primary,
                                      std::optional<fake_server>& second) {
    auto c = co_await open(f, "mongodb://" + primary.host_port() + "," + second->host_port() +
                                  "/?replicaSet=rs0");
    auto found = co_await c->connect();
    REQUIRE(found);
    // Both known and connected; then one is gone for good and the other's connection breaks, so
    // that the next selection rescans a known dead member (a self-deadlock of 1.23.1 when the
    // initiator gives NULL).
    second.reset();
    primary.server().drop_connections();
    auto lost = co_await c->command("admin", ping());
    REQUIRE(!lost);
    co_await pause_for(550ms);
    auto again = co_await c->connect();
    REQUIRE(again);
    CHECK(again->host == primary.host_port());
    auto pong = co_await c->command("admin", ping());
    CHECK(pong);
    co_await c->stop();
}

asio::awaitable<void> all_vanish(driver_fixture& f, std::optional<fake_server>& only) {
    auto c = co_await open(f, "mongodb://" + only->host_port() + "/?replicaSet=rs0");
    auto found = co_await c->connect();
    REQUIRE(found);
    only.reset();
    auto lost = co_await c->command("admin", ping());
    REQUIRE(!lost);
    CHECK(lost.error().code == errc::network);
    co_await pause_for(550ms);
    auto again = co_await c->connect();
    REQUIRE(!again);
    CHECK(again.error().code == errc::network);
    co_await c->stop();
}

} // namespace

TEST_CASE("two silent members do not hold up a live primary", "[driver]") {
    driver_fixture f;
    fake_server primary({});
    silent_pair dead;
    primary.set_hosts({dead.first.host_port(), primary.host_port(), dead.second.host_port()});
    lateness late({&f.reactor});
    await_on(f.reactor, live_primary(f, primary, dead));
    CHECK(f.usleeps() == 0);
    CHECK(late.stop("silent members") < 3);
}

TEST_CASE("silent members are dialled in parallel", "[driver]") {
    driver_fixture f;
    silent_pair dead;
    lateness late({&f.reactor});
    await_on(f.reactor, no_primary(f, dead));
    CHECK(f.usleeps() == 0);
    CHECK(late.stop("no primary") < 3);
}

TEST_CASE("a known member dies before a rescan", "[driver]") {
    driver_fixture f;
    fake_server primary({});
    fake_server::options secondary;
    secondary.primary = false;
    std::optional<fake_server> second(std::in_place, secondary);
    primary.set_hosts({primary.host_port(), second->host_port()});
    second->set_hosts({primary.host_port(), second->host_port()});
    await_on(f.reactor, member_vanishes(f, primary, second));
    CHECK(f.usleeps() == 0);
}

TEST_CASE("all members die: a clean error", "[driver]") {
    driver_fixture f;
    std::optional<fake_server> only(std::in_place, fake_server::options{});
    await_on(f.reactor, all_vanish(f, only));
    CHECK(f.usleeps() == 0);
}
