// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "sources/mongodb/client/client.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/fake_server.hpp"

#include <algorithm>
#include <chrono>

namespace asio = boost::asio;
using namespace cdc;
using namespace cdc::test;
using error::errc;
using mongodb::client::client;
using clock_type = std::chrono::steady_clock;

constexpr std::chrono::milliseconds limit{100};

namespace {

struct outcome {
    std::size_t suspensions = 0;
    clock_type::duration until_stopped{};
};

/// A whole life of a client, cancelled at its `at`-th suspension (0: never).
asio::awaitable<outcome> life(driver_fixture& f, std::string uri, std::size_t at) {
    auto options = f.options(std::move(uri));
    auto opened = co_await client::open(f.executor(), f.blocking, options, f.logger);
    REQUIRE(opened);
    auto& c = **opened;
    outcome out;
    clock_type::time_point cancelled_at{};
    c.on_suspend([&](std::size_t n) {
        out.suspensions = n;
        if (n == at) {
            cancelled_at = clock_type::now();
            c.cancel();
        }
    });
    bool going = static_cast<bool>(co_await c.connect());
    if (going) {
        // Large enough to block a write on a full socket buffer.
        auto big =
            bson::builder().int32("ping", 1).string("pad", std::string(8 << 20, 'x')).finish();
        auto pong = co_await c.command("db", std::move(big));
        going = static_cast<bool>(pong);
        if (!pong)
            CHECK(pong.error().code == errc::cancelled);
    }
    for (int i = 0; going && i < 2; ++i) {
        auto more = bson::builder().int64("getMore", 4711).string("collection", "c").finish();
        auto reply = co_await c.command("db", std::move(more));
        going = static_cast<bool>(reply);
        if (!reply)
            CHECK(reply.error().code == errc::cancelled);
    }
    if (at == 0)
        CHECK(going);
    co_await c.stop();
    if (cancelled_at != clock_type::time_point{})
        out.until_stopped = clock_type::now() - cancelled_at;
    c.on_suspend(nullptr);
    co_return out;
}

void cancel_everywhere(const wire::tls_options& tls, const std::string& uri_options) {
    driver_fixture f;
    fake_server::options o;
    o.tls = tls;
    o.events_per_batch = 2000; // replies of 800 KB take several suspensions
    fake_server server(o);
    const auto uri = "mongodb://" + server.host_port() + "/?replicaSet=rs0" + uri_options;
    CHECK(await_on(f.reactor, life(f, uri, 0)).suspensions > 0);
    clock_type::duration slowest{};
    // How often the kernel has less room or data than wanted differs from run to run, so the number
    // of points does too: they are through when three lives in a row ended before the next one.
    std::size_t at = 1;
    for (int ended_before = 0; ended_before < 3;) {
        auto did = await_on(f.reactor, life(f, uri, at));
        // A busy machine can hold anything up once; a fault holds it up every time.
        auto took = did.until_stopped;
        for (int again = 0; again < 4 && took >= limit; ++again) {
            did = await_on(f.reactor, life(f, uri, at));
            took = std::min(took, did.until_stopped);
        }
        slowest = std::max(slowest, took);
        const bool reached = did.suspensions >= at;
        at += reached;
        ended_before = reached ? 0 : ended_before + 1;
    }
    CHECK(at > 6);
    CHECK(slowest < limit);
    CHECK(eventually([&] { return server.server().open_connections() == 0; }));
    CHECK(f.usleeps() == 0);
}

} // namespace

TEST_CASE("cancel at every suspension point", "[driver]") {
    cancel_everywhere({}, "");
}

TEST_CASE("cancel at every suspension point over TLS", "[driver]") {
    certificates files;
    wire::tls_options tls;
    tls.certificate_and_key_pem = files.server();
    cancel_everywhere(tls, "&tls=true&tlsCAFile=" + files.ca());
}
