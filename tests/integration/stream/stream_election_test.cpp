// SPDX-License-Identifier: Apache-2.0
// The change stream source on sets whose primary changes.
#include "core/bson/builder.hpp"
#include "sources/mongodb/modes/connector.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/lateness.hpp"
#include "tests/support/standin/replica_set.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using clock_type = std::chrono::steady_clock;
using mongodb::streaming::stream_source;

namespace {

standin::replica_set_options three_members() {
    standin::replica_set_options o;
    o.members = 3;
    return o;
}

/// The values of `n` that came for each `_id`, in order.
using values_by_key = std::map<std::int32_t, std::vector<std::int32_t>>;

asio::awaitable<std::size_t> read(stream_source& from, values_by_key& into, std::size_t count) {
    std::size_t came = 0;
    while (came < count) {
        auto batch = co_await from.next_batch();
        if (!batch) {
            UNSCOPED_INFO(batch.error().describe());
            break;
        }
        for (const auto& e : (*batch)->events()) {
            into[e.id->as_int32()].push_back(bson::find(*e.after, "n")->as_int32());
            ++came;
        }
    }
    co_return came;
}

struct election_test : driver_fixture {
    standin::replica_set set;
    mongodb::connector_options options;
    std::unique_ptr<stream_source> source;
    lateness late{{&reactor}};

    explicit election_test(standin::replica_set_options o = three_members())
        : set(std::move(o)) {
        options.connection_string = set.uri();
        options.capture_mode = mongodb::capture_mode::change_streams;
        options.max_await_time = 100ms;
        options.socket_timeout = 20000ms;
    }
    ~election_test() {
        stop();
        CHECK(late.stop("elections") < 3);
        CHECK(usleeps() == 0);
    }
    void start() {
        auto made =
            mongodb::modes::make_connector_source(options, reactor.executor(), blocking, logger);
        REQUIRE(made);
        source = std::move(*made);
        REQUIRE(await_on(reactor, source->start({})));
    }
    void stop() {
        if (source)
            await_on(reactor, source->stop());
        source.reset();
    }
    std::size_t take(values_by_key& into, std::size_t count) {
        return await_on(reactor, read(*source, into, count), 120s);
    }

    /// Whether the server took it; without a primary it does not.
    bool write(std::int32_t key, std::int32_t n) {
        bson::builder q;
        const auto query = q.int32("_id", key).finish();
        bson::builder u;
        const auto document = u.int32("n", n).finish();
        bson::builder update;
        const auto one =
            update.document("q", query).document("u", document).boolean("upsert", true).finish();
        bson::builder list;
        const auto updates = list.document("0", one).finish();
        bson::builder b;
        const auto command = b.string("update", "orders").array("updates", updates).finish();
        const auto reply = set.run("shop", command);
        return bson::find(reply, "ok")->truthy() && !bson::find(reply, "writeErrors");
    }
    void must_write(std::int32_t key, std::int32_t n) {
        REQUIRE(eventually([&] { return write(key, n); }));
    }

    std::size_t sent(std::size_t member, const std::string& command) const {
        const auto counts = set.counts(member).commands;
        const auto c = counts.find(command);
        return c == counts.end() ? 0 : c->second.as_primary + c->second.as_secondary;
    }
    std::size_t sent_to_secondaries(const std::string& command) const {
        std::size_t out = 0;
        for (std::size_t i = 0; i < set.members(); ++i) {
            const auto counts = set.counts(i).commands;
            if (const auto c = counts.find(command); c != counts.end())
                out += c->second.as_secondary;
        }
        return out;
    }
};

/// Calls `work` every `apart`, on a thread of its own, until it goes.
class every {
  public:
    template <class F>
    every(clock_type::duration apart, F work)
        : thread_([this, apart, work] {
            std::unique_lock lock(mutex_);
            while (!changed_.wait_for(lock, apart, [this] { return over_; }))
                work();
        }) {}
    ~every() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    every(const every&) = delete;
    every& operator=(const every&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_;
};

} // namespace

TEST_CASE("fault 99: the primary steps down every two seconds during 20,000 writes",
          "[stream][standin][election][fault-99]") {
    auto o = three_members();
    o.election_delay = 200ms;
    o.version = GENERATE("4.4.0", "6.0.0");
    election_test t(o);
    t.start();

    constexpr std::int32_t keys = 200, rounds = 100;
    std::size_t step_downs = 0, refused = 0;
    std::thread writer;
    values_by_key got;
    std::size_t came = 0;
    {
        const every two_seconds(2s, [&] {
            if (t.set.primary()) {
                t.set.step_down(1s);
                ++step_downs;
            }
        });
        const auto begin = clock_type::now();
        writer = std::thread([&] {
            for (std::int32_t n = 0; n < rounds; ++n) {
                // Spread over twelve seconds, or all would be written before the first election.
                std::this_thread::sleep_until(begin + n * 120ms);
                for (std::int32_t key = 0; key < keys; ++key)
                    refused += !eventually([&] { return t.write(key, n); });
            }
        });
        came = t.take(got, keys * rounds);
        writer.join();
    }
    CHECK(refused == 0);
    CHECK(came == keys * rounds);
    std::vector<std::int32_t> all;
    for (std::int32_t n = 0; n < rounds; ++n)
        all.push_back(n);
    std::size_t wrong = 0;
    for (std::int32_t key = 0; key < keys; ++key)
        wrong += got[key] != all; // in order, none missing, none twice
    CHECK(wrong == 0);

    CHECK(step_downs >= 5);
    const auto moved = t.source->moved();
    CHECK(moved >= step_downs / 2); // one that follows too soon may find nobody reading
    CHECK(moved <= step_downs);
    // No opening but for elections, and looks for a primary while there is none.
    CHECK(t.source->reopened() <= 3 * step_downs);
    // A read may be sent before the news of a step-down has come, but not more than that.
    CHECK(t.sent_to_secondaries("getMore") <= 2 * step_downs);
    CHECK(t.sent_to_secondaries("aggregate") <= 2 * step_downs);
    std::size_t openings = 0;
    for (std::size_t i = 0; i < 3; ++i)
        openings += t.sent(i, "aggregate");
    CHECK(openings >= moved);
    std::printf(
        "elections: %zu step-downs, %zu moves, %zu openings, %zu reads sent to a secondary\n",
        step_downs, static_cast<std::size_t>(moved), openings, t.sent_to_secondaries("getMore"));
    t.stop();
    CHECK(t.set.open_cursors() == 0);
}

TEST_CASE("a getMore that would wait on is left at once when its member steps down",
          "[stream][standin][election]") {
    election_test t;
    t.options.max_await_time = 15000ms;
    t.start();
    values_by_key got;
    t.must_write(1, 1);
    REQUIRE(t.take(got, 1) == 1);
    const auto at = [&](std::size_t member) { return t.sent(member, "getMore"); };
    REQUIRE(eventually([&] { return at(0) == 2; }));
    const auto openings = t.sent(1, "aggregate") + t.sent(2, "aggregate");
    CHECK(openings == 0);

    // The server itself leaves the reader in peace.
    const auto begin = clock_type::now();
    t.set.step_down();
    const auto next = t.set.primary();
    REQUIRE(next);
    REQUIRE(eventually([&] { return at(*next) == 1; }));
    CHECK(clock_type::now() - begin < 10s); // it would have waited for fifteen
    CHECK(at(0) == 2);
    CHECK(t.sent_to_secondaries("getMore") == 0);
    CHECK(t.sent_to_secondaries("aggregate") == 0);
    t.must_write(1, 2);
    REQUIRE(t.take(got, 1) == 1);
    CHECK(got[1] == std::vector<std::int32_t>{1, 2});
    CHECK(t.source->moved() == 1);
    CHECK(t.source->reopened() == 1);
    CHECK(t.log->count("is no longer the primary") == 1);
    CHECK(t.log->count("to go on follows") == 0);
    // The old cursor is gone; the new primary holds the one.
    CHECK(eventually([&] { return t.set.counts(0).open_cursors == 0; }));
    CHECK(t.set.counts(*next).open_cursors == 1);
}

TEST_CASE("a set without a primary for a while", "[stream][standin][election]") {
    election_test t;
    t.start();
    values_by_key got;
    t.must_write(1, 1);
    REQUIRE(t.take(got, 1) == 1);
    t.set.hold_elections(true);
    t.set.step_down();
    REQUIRE(eventually([&] { return t.log->count("none is primary now") > 0; }));
    CHECK(t.set.counts(0).open_cursors == 0);
    t.set.elect(2);
    t.must_write(1, 2);
    REQUIRE(t.take(got, 1) == 1);
    CHECK(got[1] == std::vector<std::int32_t>{1, 2});
    CHECK(t.sent_to_secondaries("aggregate") == 0);
}

TEST_CASE("the primary dies or is shut down", "[stream][standin][election]") {
    for (const auto how : {standin::ending::killed, standin::ending::shut_down}) {
        election_test t;
        // Found again from what the set told, though the only host named is gone.
        t.options.connection_string = "mongodb://" + t.set.host_port(0) + "/";
        t.start();
        values_by_key got;
        t.must_write(1, 1);
        REQUIRE(t.take(got, 1) == 1);
        t.set.stop_member(0, how);
        t.must_write(1, 2);
        REQUIRE(t.take(got, 1) == 1);
        t.set.start_member(0);
        t.set.elect(0);
        t.must_write(1, 3);
        REQUIRE(t.take(got, 1) == 1);
        CHECK(got[1] == std::vector<std::int32_t>{1, 2, 3});
        CHECK(eventually([&] { return t.sent(0, "aggregate") >= 2; })); // it moved back
        t.stop();
        CHECK(t.set.open_cursors() == 0);
    }
}

TEST_CASE("whoever is told to stay on one host stays, whatever its role",
          "[stream][standin][election]") {
    const bool by_option = GENERATE(false, true);
    CAPTURE(by_option);
    election_test t;
    t.options.connection_string = "mongodb://" + t.set.host_port(1) + "/";
    if (by_option)
        t.options.members_auto_discover = false;
    else
        t.options.connection_string += "?directConnection=true";
    t.start(); // a secondary
    values_by_key got;
    for (const std::size_t primary : {1, 2, 1, 0}) {
        t.set.elect(primary);
        t.must_write(1, static_cast<std::int32_t>(got[1].size()));
        REQUIRE(t.take(got, 1) == 1);
    }
    t.set.drop_connections();
    t.must_write(1, 4);
    REQUIRE(t.take(got, 1) == 1);
    CHECK(got[1] == std::vector<std::int32_t>{0, 1, 2, 3, 4});
    CHECK(t.source->host() == t.set.host_port(1));
    CHECK(t.source->moved() == 0);
    for (const std::size_t other : {0, 2}) {
        CHECK(t.sent(other, "aggregate") == 0);
        CHECK(t.sent(other, "isMaster") == 0);
        CHECK(t.set.counts(other).accepted_connections == 0);
    }
    CHECK(t.set.counts(1).open_connections == 1); // no watch
}

TEST_CASE("an idle connector asks once in a heartbeat and reads once in a wait",
          "[stream][standin][election]") {
    election_test t;
    t.options.max_await_time = 500ms;
    t.options.heartbeat_frequency = 1000ms;
    t.start();
    REQUIRE(await_on(t.reactor, t.source->next_batch())); // where it starts
    REQUIRE(eventually([&] { return t.sent(0, "getMore") >= 1; }));
    const auto hellos = [&] { return t.sent(0, "isMaster"); };
    const auto hellos_before = hellos();
    const auto begin = clock_type::now();
    REQUIRE(eventually([&] { return t.sent(0, "getMore") >= 11; }));
    // However slow this machine is, it never asks more often.
    const auto heartbeats =
        static_cast<std::size_t>((clock_type::now() - begin) / t.options.heartbeat_frequency);
    CHECK(hellos() - hellos_before >= 2);
    CHECK(hellos() - hellos_before <= heartbeats + 2);
    CHECK(t.source->reopened() == 0);
}
