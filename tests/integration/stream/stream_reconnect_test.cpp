// SPDX-License-Identifier: Apache-2.0
// What connecting again leaves behind, and what it must not begin any more.
#include "sources/mongodb/client/fiber_stack.hpp"
#include "sources/mongodb/modes/connector.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/process_counts.hpp"
#include "tests/support/standin/replica_set.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <ostream>
#include <vector>

using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using mongodb::client::fiber_stack;
using mongodb::streaming::stream_source;

namespace {

asio::awaitable<bool> take(stream_source& from, std::int32_t id) {
    for (;;) {
        auto batch = co_await from.next_batch();
        if (!batch)
            co_return false;
        for (const auto& e : (*batch)->events())
            if (e.id->as_int32() == id)
                co_return true;
    }
}

struct what_is_open {
    std::size_t cursors, connections, stacks, descriptors;
    auto operator<=>(const what_is_open&) const = default;
};

std::ostream& operator<<(std::ostream& out, const what_is_open& w) {
    return out << fmt::format("{} cursors, {} connections, {} stacks, {} descriptors", w.cursors,
                              w.connections, w.stacks, w.descriptors);
}

struct reconnect_test : driver_fixture {
    standin::replica_set set;
    mongodb::connector_options options;
    std::vector<std::unique_ptr<stream_source>> sources;
    std::int32_t next_id = 0;

    explicit reconnect_test(standin::replica_set_options o = {})
        : set(std::move(o)) {
        options.connection_string = set.uri();
        options.capture_mode = mongodb::capture_mode::change_streams;
        options.max_await_time = 200ms;
        options.socket_timeout = 20000ms;
    }
    ~reconnect_test() {
        stop();
        CHECK(usleeps() == 0);
    }
    void start(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            auto made = mongodb::modes::make_connector_source(options, reactor.executor(), blocking,
                                                              logger);
            REQUIRE(made);
            sources.push_back(std::move(*made));
            REQUIRE(await_on(reactor, sources.back()->start({})));
        }
    }
    void stop() {
        for (auto& s : sources)
            await_on(reactor, s->stop());
        sources.clear();
    }
    /// Every source sees a write.
    void all_read() {
        const auto id = next_id++;
        const auto reply = set.run_json(
            "shop", fmt::format(R"({{"insert": "c", "documents": [{{"_id": {}}}]}})", id));
        REQUIRE(bson::find(reply, "ok")->truthy());
        for (auto& s : sources)
            REQUIRE(await_on(reactor, take(*s, id)));
    }
    what_is_open open() const {
        return {set.open_cursors(), set.open_connections(), fiber_stack::count(),
                open_descriptors()};
    }
    std::size_t reopened() const {
        std::size_t out = 0;
        for (const auto& s : sources)
            out += s->reopened();
        return out;
    }
};

} // namespace

TEST_CASE("faults 65 and 103: 200 reconnects leave nothing behind",
          "[stream][standin][fault-65][fault-103]") {
    reconnect_test t;
    t.start(1); // the first resolver of a process opens some for good
    t.stop();
    REQUIRE(eventually([&] { return t.set.open_connections() == 0; }));
    const auto none = t.open();
    t.start(20);
    t.all_read();
    // Every source has its connection and its watch's.
    REQUIRE(eventually([&] { return t.set.open_connections() == 40; }));
    const auto before = t.open();
    CHECK(before.cursors == 20);
    CHECK(before.stacks == 40);
    for (int round = 0; round < 10; ++round) {
        t.set.drop_connections();
        t.all_read();
        CHECK(t.set.open_cursors() <= 20);
    }
    CHECK(t.reopened() >= 200);
    CHECK(eventually([&] { return t.open() == before; }));
    CHECK(t.open() == before);
    t.stop();
    CHECK(eventually([&] { return t.open() == none; }));
    CHECK(t.open() == none);
}

TEST_CASE("fault 65: 100 elections leave nothing behind", "[stream][standin][election][fault-65]") {
    standin::replica_set_options three;
    three.members = 3;
    reconnect_test t(three);
    t.start(1); // the first resolver of a process opens some for good
    t.stop();
    REQUIRE(eventually([&] { return t.set.open_connections() == 0; }));
    const auto none = t.open();
    t.start(1);
    t.all_read();
    // The driver keeps a connection to each member.
    REQUIRE(eventually([&] { return t.set.open_connections() == 6; }));
    const auto before = t.open();
    CHECK(before.cursors == 1);
    const std::size_t watched = t.log->count(": asks ");
    for (std::uint64_t moves = 1; moves <= 100; ++moves) {
        t.set.elect(moves % 3);
        // Its events would come from the old primary too.
        REQUIRE(eventually([&] { return t.set.counts(moves % 3).open_cursors == 1; }));
        t.all_read();
        // Only who watches a member can end what is left on it.
        REQUIRE(eventually([&] { return t.log->count(": asks ") >= watched + moves; }));
    }
    CHECK(t.sources[0]->moved() == 100);
    CHECK(eventually([&] { return t.open() == before; }));
    CHECK(t.open() == before);
    t.stop();
    CHECK(eventually([&] { return t.open() == none; }));
    CHECK(t.open() == none);
}

TEST_CASE("fault 65: nothing is opened after a stop while connecting again",
          "[stream][standin][fault-65]") {
    reconnect_test t;
    t.start(1);
    t.all_read();
    const auto openings = [&] { return t.set.counts().commands["aggregate"].as_primary; };
    const auto before = openings();
    standin::command_fault held;
    const char* command = GENERATE("ping", "buildInfo", "killSessions", "find");
    CAPTURE(command);
    held.commands = {command};
    held.hold = true;
    t.set.fail_commands(held);
    t.set.drop_connections();
    REQUIRE(eventually([&] { return t.set.faults_met() > 0; }));
    t.stop();
    t.set.end_faults();
    CHECK(eventually([&] { return t.set.open_connections() == 0; }));
    CHECK(openings() == before);
    // The one that the cut left waiting has no reader; that is all there is.
    CHECK(t.set.open_cursors() <= 1);
}

TEST_CASE("fault 65: opening far behind holds nobody else up", "[stream][standin][fault-65]") {
    reconnect_test t;
    t.start(1);
    auto first = await_on(t.reactor, t.sources[0]->next_batch()); // where it starts
    REQUIRE(first);
    REQUIRE((*first)->end());
    auto behind = (*first)->end()->clone();
    for (int i = 0; i < 200; ++i)
        t.all_read();

    // A server may search long before it answers.
    standin::command_fault searching;
    searching.commands = {"aggregate"};
    searching.app_name = "behind";
    searching.hold = true;
    t.set.fail_commands(searching);
    t.options.connection_string += "&appName=behind";
    auto made = mongodb::modes::make_connector_source(t.options, t.reactor.executor(), t.blocking,
                                                      t.logger);
    REQUIRE(made);
    auto slow = std::move(*made);
    auto started =
        asio::co_spawn(t.reactor.executor(), slow->start(std::move(behind)), asio::use_future);
    REQUIRE(eventually([&] { return t.set.faults_met() == 1; }));
    for (int i = 0; i < 50; ++i)
        t.all_read();
    CHECK(started.wait_for(0s) == std::future_status::timeout);
    t.set.end_faults();
    REQUIRE(started.get());
    CHECK(await_on(t.reactor, take(*slow, 249)));
    await_on(t.reactor, slow->stop());
}
