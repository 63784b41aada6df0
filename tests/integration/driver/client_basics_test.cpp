// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor.hpp"
#include "sources/mongodb/client/client.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/fake_server.hpp"

#include <openssl/evp.h>

#include <memory>
#include <vector>

namespace asio = boost::asio;
using namespace cdc;
using namespace cdc::test;
using mongodb::client::client;
using mongodb::client::client_options;

namespace {

struct reading {
    std::size_t events = 0;
    std::vector<unsigned char> digest;
};

/// hello, session, aggregate and `count` getMore; the digest covers every reply's bytes.
asio::awaitable<reading> read_all(driver_fixture& f, std::string uri,
                                  client_options::runner_kind runner, int count) {
    auto options = f.options(std::move(uri));
    options.runner = runner;
    auto opened = co_await client::open(f.executor(), f.blocking, options, f.logger);
    REQUIRE(opened);
    auto& c = **opened;
    auto server = co_await c.connect();
    REQUIRE(server);
    CHECK(server->set_name == "rs0");
    auto aggregate = bson::builder().int32("aggregate", 1).finish();
    auto first = co_await c.command("db", std::move(aggregate));
    REQUIRE(first);
    reading out;
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> sha(EVP_MD_CTX_new(),
                                                                      EVP_MD_CTX_free);
    EVP_DigestInit(sha.get(), EVP_sha256());
    for (int i = 0; i < count; ++i) {
        auto more = bson::builder().int64("getMore", 4711).string("collection", "c").finish();
        auto reply = co_await c.command("db", std::move(more));
        REQUIRE(reply);
        EVP_DigestUpdate(sha.get(), reply->view().data(), reply->size());
        const auto batch = bson::find_path(*reply, "cursor.nextBatch");
        REQUIRE(batch);
        for (bson::cursor event{batch->as_document()}; event.next();)
            ++out.events;
    }
    out.digest.resize(EVP_MAX_MD_SIZE);
    unsigned size = 0;
    EVP_DigestFinal(sha.get(), out.digest.data(), &size);
    out.digest.resize(size);
    co_await c.stop();
    co_return out;
}

} // namespace

TEST_CASE("10,000 getMore on one fiber, and the same bytes through threads", "[driver]") {
    driver_fixture f;
    fake_server server({});
    const auto uri = "mongodb://" + server.host_port() + "/?replicaSet=rs0";
    const auto fiber =
        await_on(f.reactor, read_all(f, uri, client_options::runner_kind::fiber, 10'000));
    CHECK(fiber.events == 1'000'000);
    CHECK(server.get_mores() == 10'000);
    const auto thread =
        await_on(f.reactor, read_all(f, uri, client_options::runner_kind::thread, 10'000));
    CHECK(thread.events == fiber.events);
    CHECK(thread.digest == fiber.digest);
    CHECK(server.end_sessions() == 2);
    CHECK(f.usleeps() == 0);
}
