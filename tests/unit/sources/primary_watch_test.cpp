// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "sources/mongodb/streaming/primary_watch.hpp"
#include "tests/unit/sources/stream_fixture.hpp"

using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using mongodb::client::server_description;
using mongodb::streaming::primary_watch;

namespace {

server_description member(std::string host) {
    server_description d;
    d.host = std::move(host);
    d.set_name = "rs0";
    return d;
}

struct watch_fixture : stream_fixture {
    std::unique_ptr<primary_watch> watch;
    std::size_t told = 0;

    explicit watch_fixture(std::chrono::milliseconds interval = 1h) {
        primary_watch::settings s;
        s.interval = interval;
        s.backoff = {1ms, 4ms};
        watch = std::make_unique<primary_watch>(
            context.get_executor(), std::make_unique<fake_runner>(context.get_executor(), set), s,
            log::logger(log, "watch"));
        watch->on_moved([this] { ++told; });
    }
};

asio::awaitable<void> step_down(watch_fixture& f) {
    f.watch->watch(member("db1:27017"));
    co_await until(f.context, [&f] { return f.set.hello_waiting == 1; });
    CHECK_FALSE(f.watch->moved());
    f.set.elect("db2:27017");
    co_await until(f.context, [&f] { return f.watch->moved(); });
    CHECK(f.watch->reason() == "db1:27017 is no longer the primary, db2:27017 is");
    CHECK(f.told == 1);

    // The reader leaves; what it had there is ended on the connection that noticed.
    bson::builder session;
    session.int32("id", 77);
    f.watch->leave(session.finish());
    CHECK_FALSE(f.watch->moved());
    co_await until(f.context, [&f] { return !f.set.killed_sessions.empty(); });
    CHECK(f.set.killed_sessions == std::vector<std::string>{"77 on db1:27017"});

    f.watch->watch(member("db2:27017"));
    co_await until(f.context, [&f] { return f.set.hello_waiting == 1; });
    CHECK(f.set.sent_to("isMaster", "db2:27017") == 1);
    CHECK(f.told == 1);
    f.set.elect("");
    co_await until(f.context, [&f] { return f.watch->moved(); });
    CHECK(f.watch->reason() == "db2:27017 is no longer the primary");
    co_await f.watch->stop();
}

asio::awaitable<void> still_primary(watch_fixture& f) {
    f.watch->watch(member("db1:27017"));
    co_await until(f.context, [&f] { return f.set.hello_waiting == 1; });
    f.set.elect("db1:27017"); // news, but of other kind
    co_await until(f.context, [&f] { return f.set.count("isMaster") == 2; });
    co_await until(f.context, [&f] { return f.set.hello_waiting == 1; });
    // The reader connected again, to the same member: one connection of the watch is enough.
    f.watch->watch(member("db1:27017"));
    for (int i = 0; i < 100; ++i)
        co_await asio::post(f.context, asio::use_awaitable);
    CHECK(f.set.count("connect") == 1);
    CHECK(f.told == 0);
    co_await f.watch->stop();
}

asio::awaitable<void> found_elsewhere(watch_fixture& f) {
    f.set.elect("db2:27017");
    f.watch->watch(member("db1:27017"));
    co_await until(f.context, [&f] { return f.watch->moved(); });
    CHECK(f.watch->reason() == "db1:27017 is no longer the primary, db2:27017 is");
    co_await f.watch->stop();
}

asio::awaitable<void> connection_breaks(watch_fixture& f) {
    f.set.faults.push_back({"isMaster", 0, 1, error::fail(error::errc::network, "reset")});
    f.set.faults.push_back({"isMaster", 1, 1, error::fail(error::errc::timeout, "silent")});
    f.watch->watch(member("db1:27017"));
    // Found again, the same: all is well.
    co_await until(f.context, [&f] { return f.set.hello_waiting == 1; });
    CHECK(f.told == 0);
    CHECK(f.set.count("connect") >= 2);
    co_await f.watch->stop();
}

asio::awaitable<void> nobody_there(watch_fixture& f) {
    f.set.elect("");
    f.watch->watch(member("db1:27017"));
    // That there is no primary is no news of the member; it looks again and again.
    co_await until(f.context, [&f] { return f.set.count("connect") == 5; });
    CHECK(f.told == 0);
    f.set.elect("db1:27017");
    co_await until(f.context, [&f] { return f.set.hello_waiting == 1; });
    CHECK(f.told == 0);
    co_await f.watch->stop();
}

asio::awaitable<void> polling(watch_fixture& f) {
    f.set.knows_topology = false;
    f.watch->watch(member("db1:27017"));
    co_await until(f.context, [&f] { return f.set.count("isMaster") == 3; });
    CHECK(f.told == 0);
    f.set.elect("db2:27017");
    co_await until(f.context, [&f] { return f.told == 1; });
    CHECK(f.set.count("connect") == 1);
    co_await f.watch->stop();
}

asio::awaitable<void> cancelled_in(watch_fixture& f, std::string call) {
    f.set.faults.push_back({call, 0, 1, {}, true});
    f.watch->watch(member("db1:27017"));
    co_await until(f.context, [&] { return f.set.count(call) == 1; });
    const auto begin = std::chrono::steady_clock::now();
    co_await f.watch->stop();
    CHECK(std::chrono::steady_clock::now() - begin < 500ms);
    CHECK(f.told == 0);
}

asio::awaitable<void> another_member_while_in(watch_fixture& f, std::string call) {
    f.set.faults.push_back({call, 0, 1, {}, true});
    f.watch->watch(member("db1:27017"));
    co_await until(f.context, [&] { return f.set.count(call) == 1; });
    f.set.elect("db2:27017");
    f.watch->watch(member("db2:27017"));
    co_await until(f.context, [&f] { return f.set.hello_waiting == 1; });
    CHECK(f.told == 0);
    CHECK(f.set.sent_to("isMaster", "db2:27017") == 1);
    co_await f.watch->stop();
}

asio::awaitable<void> never_used(watch_fixture& f) {
    co_await f.watch->stop();
    f.watch->watch(member("db1:27017"));
    CHECK(f.set.calls.empty());
}

} // namespace

TEST_CASE("a step-down is noticed where the server waits to tell it", "[sources][primary]") {
    watch_fixture f;
    f.run(step_down(f));
}

TEST_CASE("the same primary is no news", "[sources][primary]") {
    watch_fixture f;
    f.run(still_primary(f));
}

TEST_CASE("another primary is noticed when the watch connects", "[sources][primary]") {
    watch_fixture f;
    f.run(found_elsewhere(f));
}

TEST_CASE("the watch's own connection may break", "[sources][primary]") {
    watch_fixture f;
    f.run(connection_breaks(f));
}

TEST_CASE("no primary at all is not reported", "[sources][primary]") {
    watch_fixture f;
    f.run(nobody_there(f));
}

TEST_CASE("servers that cannot wait are asked every interval", "[sources][primary]") {
    watch_fixture f(2ms);
    f.run(polling(f));
}

TEST_CASE("a watch can be stopped in every phase", "[sources][primary][cancel]") {
    for (const auto* call : {"connect", "isMaster"}) {
        INFO(call);
        watch_fixture f;
        f.run(cancelled_in(f, call));
    }
    watch_fixture f;
    f.run(never_used(f));
}

TEST_CASE("another member is watched whatever the watch was doing", "[sources][primary]") {
    for (const auto* call : {"connect", "isMaster"}) {
        INFO(call);
        watch_fixture f;
        f.run(another_member_while_in(f, call));
    }
}
