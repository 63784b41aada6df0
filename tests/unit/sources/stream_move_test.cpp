// SPDX-License-Identifier: Apache-2.0
// The stream leaves a member that is no longer the primary.
#include "sources/mongodb/streaming/primary_watch.hpp"
#include "tests/unit/sources/stream_fixture.hpp"

using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using mongodb::streaming::primary_watch;
using mongodb::streaming::stream_source;

namespace {

struct move_fixture : stream_fixture {
    void make() {
        primary_watch::settings s;
        s.interval = 1h;
        s.backoff = {1ms, 4ms};
        auto watch = std::make_unique<primary_watch>(
            context.get_executor(), std::make_unique<fake_runner>(context.get_executor(), set), s,
            log::logger(log, "watch"));
        source = std::make_unique<stream_source>(
            context.get_executor(), std::make_unique<fake_runner>(context.get_executor(), set),
            settings, mongodb::filters::compile(lists).value(), log::logger(log, "source"),
            std::move(watch));
    }
};

asio::awaitable<void> start(move_fixture& f) {
    f.make();
    auto from = at_high_water(1000);
    const auto started = co_await f.source->start(std::move(from));
    REQUIRE(started);
}

asio::awaitable<void> while_a_get_more_waits(move_fixture& f) {
    co_await start(f);
    received got;
    f.set.add(0);
    co_await take_events(*f.source, got, 1);
    co_await until(f.context, [&f] { return f.set.waiting && f.set.hello_waiting == 1; });
    f.set.elect("db2:27017");
    // Nothing happens on the set; the waiting getMore would wait on.
    co_await until(f.context, [&f] { return f.set.sent_to("getMore", "db2:27017") == 1; });
    CHECK(f.source->host() == "db2:27017");
    CHECK(f.source->moved() == 1);
    CHECK(f.source->reopened() == 1);
    CHECK(f.log->count("to go on follows") == 0); // no failure
    CHECK(f.log->count("db1:27017 is no longer the primary, db2:27017 is; moves") == 1);
    CHECK(bson::find_path(f.set.opened.at(1), "resumeAfter._data")->as_string() ==
          got.tokens.back());
    // The session of the old member is gone with its cursor.
    co_await until(f.context, [&f] { return f.set.open_cursors() == 1; });
    CHECK(f.set.killed_sessions.size() == 1);
    f.set.add(1);
    co_await take_events(*f.source, got, 2);
    CHECK(got.ids == numbers(2));
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

asio::awaitable<void> without_a_primary(move_fixture& f) {
    co_await start(f);
    received got;
    co_await until(f.context, [&f] { return f.set.waiting && f.set.hello_waiting == 1; });
    f.set.elect("");
    co_await until(f.context, [&f] { return f.log->count("no suitable server") > 0; });
    CHECK(f.source->moved() == 1);
    f.set.elect("db3:27017");
    f.set.add(0);
    co_await take_events(*f.source, got, 1);
    CHECK(got.ids == numbers(1));
    CHECK(f.source->host() == "db3:27017");
    co_await f.source->stop();
}

/// A move while `call` of the stream is in flight for the first time.
asio::awaitable<void> while_in(move_fixture& f, std::string call) {
    for (int i = 0; i < 5; ++i)
        f.set.add(i);
    f.set.faults.push_back({call, 0, 1, {}, true});
    f.make();
    auto from = at_event(1001);
    std::optional<error::result<void>> started;
    auto begin = [](stream_source& s, event::position at,
                    std::optional<error::result<void>>& out) -> asio::awaitable<void> {
        out = co_await s.start(std::move(at));
    };
    asio::co_spawn(f.context, begin(*f.source, std::move(from), started), asio::detached);
    co_await until(f.context, [&] { return f.set.count(call) == 1 && f.set.hello_waiting == 1; });
    f.set.elect("db2:27017");
    co_await until(f.context, [&] { return started.has_value(); });
    REQUIRE(*started);
    received got;
    co_await take_events(*f.source, got, 4);
    CHECK(got.ids == std::vector<std::int32_t>{1, 2, 3, 4});
    CHECK(f.source->moved() == 1);
    CHECK(f.source->host() == "db2:27017");
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

asio::awaitable<void> while_a_reply_waits(move_fixture& f) {
    for (int i = 0; i < 10; ++i)
        f.set.add(i);
    co_await start(f);
    // One reply is held and one waits: no call of the stream is in flight.
    auto held = co_await f.source->next_batch();
    REQUIRE(held);
    co_await until(f.context,
                   [&f] { return f.set.count("getMore") == 2 && f.set.hello_waiting == 1; });
    for (int i = 0; i < 20; ++i)
        co_await asio::post(f.context, asio::use_awaitable);
    f.set.elect("db2:27017");
    co_await until(f.context, [&f] { return f.set.sent_to("aggregate", "db2:27017") == 1; });
    CHECK(f.set.sent_to("getMore", "db1:27017") == 2);
    received rest;
    co_await take_events(*f.source, rest, 8);
    CHECK(rest.ids == std::vector<std::int32_t>{2, 3, 4, 5, 6, 7, 8, 9});
    co_await f.source->stop();
}

asio::awaitable<void> back_and_forth(move_fixture& f) {
    co_await start(f);
    received got;
    for (int i = 0; i < 30; ++i) {
        co_await until(f.context, [&f] { return f.set.waiting && f.set.hello_waiting == 1; });
        const std::string next = i % 2 ? "db1:27017" : "db2:27017";
        f.set.elect(next);
        f.set.add(i);
        co_await take_events(*f.source, got, static_cast<std::size_t>(i) + 1);
        co_await until(f.context, [&] { return f.source->host() == next; });
    }
    CHECK(got.ids == numbers(30));
    CHECK(f.source->moved() == 30);
    CHECK(f.set.open_cursors() <= 2);
    co_await f.source->stop();
    CHECK(f.set.open_cursors() <= 1);
}

asio::awaitable<void> pause_cut_short(move_fixture& f) {
    f.settings.backoff = {1h, 1h};
    co_await start(f);
    received got;
    co_await until(f.context, [&f] { return f.set.waiting && f.set.hello_waiting == 1; });
    f.set.faults.push_back({"getMore", 0, 1, error::fail(error::errc::network, "reset")});
    f.set.idle();
    co_await until(f.context, [&f] { return f.log->count("to go on follows") == 1; });
    f.set.elect("db2:27017");
    f.set.add(0);
    co_await take_events(*f.source, got, 1);
    CHECK(got.ids == numbers(1));
    CHECK(f.source->host() == "db2:27017");
    co_await f.source->stop();
}

asio::awaitable<void> stop_while_moving(move_fixture& f) {
    co_await start(f);
    co_await until(f.context, [&f] { return f.set.waiting && f.set.hello_waiting == 1; });
    f.set.faults.push_back({"connect", 0, 1, {}, true});
    f.set.elect("db2:27017");
    co_await until(f.context, [&f] { return f.set.count("connect") == 3; });
    const auto begin = std::chrono::steady_clock::now();
    co_await f.source->stop();
    CHECK(std::chrono::steady_clock::now() - begin < 500ms);
}

} // namespace

TEST_CASE("a waiting getMore is abandoned when its member is no longer the primary",
          "[sources][stream][primary]") {
    move_fixture f;
    f.run(while_a_get_more_waits(f));
}

TEST_CASE("while there is no primary the stream looks for one", "[sources][stream][primary]") {
    move_fixture f;
    f.run(without_a_primary(f));
}

TEST_CASE("a move at every command of an opening loses nothing", "[sources][stream][primary]") {
    for (const auto* call : {"find", "aggregate", "getMore"}) {
        INFO(call);
        move_fixture f;
        f.run(while_in(f, call));
    }
}

TEST_CASE("a move while a reply waits to be taken keeps the reply", "[sources][stream][primary]") {
    move_fixture f;
    f.run(while_a_reply_waits(f));
}

TEST_CASE("primaries that change all the time: all events, once, few cursors",
          "[sources][stream][primary]") {
    move_fixture f;
    f.run(back_and_forth(f));
}

TEST_CASE("a new primary ends the pause after a fault", "[sources][stream][primary]") {
    move_fixture f;
    f.run(pause_cut_short(f));
}

TEST_CASE("a move can be stopped", "[sources][stream][primary][cancel]") {
    move_fixture f;
    f.run(stop_while_moving(f));
}
