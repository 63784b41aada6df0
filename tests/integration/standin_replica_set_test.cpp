// SPDX-License-Identifier: Apache-2.0
// The stand-in used in-process, and what the pymongo script cannot look at.
#include "core/bson/builder.hpp"
#include "tests/integration/standin_client.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/standin/recorded_history.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/standin/replica_set.hpp"
#include "tests/support/standin/resume_token.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/wire/wire_client.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;
namespace wire = cdc::test::wire;

using namespace cdc::test::standin;

namespace {

std::int64_t open_stream(standin::replica_set& set, const std::string& stage = "{}",
                         const std::string& db = "db", const std::string& target = R"("c")") {
    const auto reply =
        set.run_json(db, R"({"aggregate": )" + target + R"(, "pipeline": [{"$changeStream": )" +
                             stage + R"(}], "cursor": {"batchSize": 0}})");
    REQUIRE(code_of(reply) == 0);
    return bson::find_path(reply, "cursor.id")->as_int64();
}

bson::document get_more(standin::replica_set& set, std::int64_t cursor, int wait_ms,
                        const std::string& db = "db", const std::string& collection = "c") {
    bson::builder b;
    b.int64("getMore", cursor).string("collection", collection).int32("maxTimeMS", wait_ms);
    return set.run(db, b.finish());
}

} // namespace

TEST_CASE("stand-in: commands from this process", "[standin]") {
    standin::replica_set set;
    CHECK(set.uri() == "mongodb://127.0.0.1:" + std::to_string(set.port()) + "/?replicaSet=rs0");
    const auto cursor = open_stream(set);
    set.insert("db", "c", standin::from_json(R"({"_id": 1})"));
    CHECK(count_in(get_more(set, cursor, 1000)) == 1);
    CHECK(count_in(get_more(set, cursor, 0)) == 0);
    CHECK_THROWS_AS(set.insert("db", "c", standin::from_json(R"({"_id": 1})")), std::runtime_error);
    CHECK(code_of(set.run_json("db", R"({"nonsense": 1})")) == 59);
    CHECK(set.open_cursors() == 1);

    // A waiting getMore ends at once when something comes.
    auto waiting = std::async(std::launch::async, [&] { return get_more(set, cursor, 60'000); });
    set.insert("db", "c", standin::from_json(R"({"_id": 2})"));
    CHECK(count_in(waiting.get()) == 1);
}

TEST_CASE("stand-in: time can be moved and passes without writes", "[standin]") {
    standin::replica_set set;
    const auto cursor = open_stream(set);
    const auto before = set.last_time();
    set.advance_clock(3600);
    set.append_noop();
    const auto after = set.last_time();
    CHECK(after.t >= before.t + 3600);
    const auto reply = get_more(set, cursor, 0);
    CHECK(bson::find_path(reply, "cursor.postBatchResumeToken._data")->as_string() ==
          standin::resume_token::high_water(after).data());
}

TEST_CASE("stand-in: a killed cursor and a client that goes end a waiting getMore", "[standin]") {
    standin::replica_set set;
    const auto cursor = open_stream(set);
    auto waiting = std::async(std::launch::async, [&] { return get_more(set, cursor, 60'000); });
    bson::builder ids;
    ids.int64("0", cursor);
    bson::builder kill;
    kill.string("killCursors", "c").array("cursors", ids.finish());
    const bson::document command = kill.finish();
    set.run("db", command);
    const auto reply = waiting.get();
    CHECK(
        (code_of(reply) == 237 || code_of(reply) == 43)); // 43 when it was killed before it waited

    {
        wire::client client(set.port());
        auto opened = client.command("db", standin::from_json(R"({"aggregate": "c",
            "pipeline": [{"$changeStream": {}}], "cursor": {}})"));
        REQUIRE(opened);
        bson::builder b;
        b.int64("getMore", bson::find_path(*opened, "cursor.id")->as_int64())
            .string("collection", "c");
        b.int32("maxTimeMS", 60'000).string("$db", "db");
        const bson::document more = b.finish();
        client.send(more);
        client.send(more); // read ahead, so that the first is known to be under way
    }
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (set.open_cursors() != 0 && std::chrono::steady_clock::now() < limit)
        std::this_thread::yield();
    CHECK(set.open_cursors() == 0);
}

TEST_CASE("stand-in: an awaited hello is answered when the topology changes", "[standin]") {
    standin::replica_set set;
    wire::client client(set.port());
    const auto hello = client.command("admin", standin::from_json(R"({"isMaster": 1})"));
    REQUIRE(hello);
    CHECK(bson::find(*hello, "me")->as_string() == set.host_port());
    bson::builder b;
    b.int32("isMaster", 1).value("topologyVersion", *bson::find(*hello, "topologyVersion"));
    b.int32("maxAwaitTimeMS", 60'000).string("$db", "admin");
    const bson::document command = b.finish();
    client.send(command);
    set.advertise("127.0.0.1:1");
    const auto next = client.receive();
    REQUIRE(next);
    CHECK(bson::find(*next, "me")->as_string() == "127.0.0.1:1");
    CHECK(bson::find_path(*next, "topologyVersion.counter")->as_int64() >
          bson::find_path(*hello, "topologyVersion.counter")->as_int64());
}

TEST_CASE("stand-in: recorded changes are served byte for byte", "[standin][recorded]") {
    const auto file = cdc::test::data_path("golden/v3-change_streams.input.jsonl");
    standin::recorded_history recorded;
    recorded.load(file);
    REQUIRE(recorded.size() > 100);
    standin::replica_set_options options;
    options.recordings = {file};
    standin::replica_set set(options);

    struct scope {
        std::string db;
        std::string target;
        std::string collection;
        std::string stage;
    };
    for (const auto& s :
         std::vector<scope>{{"admin", "1", "$cmd.aggregate", R"({"allChangesForCluster": true})"},
                            {"golden", "1", "$cmd.aggregate", "{}"},
                            {"golden", R"("customers")", "customers", "{}"}}) {
        const auto cursor = open_stream(set, s.stage, s.db, s.target);
        std::size_t next = 0;
        while (next < recorded.size()) {
            const auto reply = get_more(set, cursor, 1000, s.db, s.collection);
            REQUIRE(count_in(reply) > 0);
            for (bson::cursor c{bson::find_path(reply, "cursor.nextBatch")->as_document()};
                 c.next(); ++next) {
                REQUIRE(next < recorded.size());
                REQUIRE(std::ranges::equal(c.as_document().bytes(), recorded.at(next).bytes()));
            }
        }
        const auto reply = get_more(set, cursor, 1, s.db, s.collection);
        CHECK(count_in(reply) == 0);
        CHECK(std::ranges::equal(
            bson::find_path(reply, "cursor.postBatchResumeToken")->as_document().bytes(),
            bson::find(recorded.at(recorded.size() - 1), "_id")->as_document().bytes()));
    }
    // Resumed in the middle.
    bson::builder stage;
    stage.value("resumeAfter", *bson::find(recorded.at(41), "_id"));
    bson::builder change_stream;
    change_stream.document("$changeStream", stage.finish());
    bson::builder pipeline;
    pipeline.document("0", change_stream.finish());
    bson::builder b;
    b.string("aggregate", "c")
        .array("pipeline", pipeline.finish())
        .document("cursor", bson::view());
    const auto reply = set.run("golden", b.finish());
    const auto first = bson::find_path(reply, "cursor.firstBatch.0");
    REQUIRE(first);
    CHECK(std::ranges::equal(first->as_document().bytes(), recorded.at(42).bytes()));
}

TEST_CASE("stand-in: many clients watch while many write", "[standin]") {
    constexpr int watchers = 100;
    constexpr int writers = 4;
    constexpr int writes = 50;
    standin::replica_set set;
    std::vector<std::unique_ptr<wire::client>> clients;
    std::vector<std::int64_t> cursors;
    for (int i = 0; i < watchers; ++i) {
        clients.push_back(std::make_unique<wire::client>(set.port()));
        const auto reply = clients.back()->command("db", standin::from_json(R"({"aggregate": 1,
            "pipeline": [{"$changeStream": {}}, {"$match": {"fullDocument.n": {"$gte": 25}}}],
            "cursor": {"batchSize": 0}})"));
        REQUIRE(reply);
        cursors.push_back(bson::find_path(*reply, "cursor.id")->as_int64());
    }
    std::vector<std::thread> threads;
    for (int w = 0; w < writers; ++w)
        threads.emplace_back([&, w] {
            for (int n = 0; n < writes; ++n) {
                bson::builder b;
                set.insert("db", "c" + std::to_string(w), b.int32("n", n).finish());
            }
        });
    std::vector<int> seen(watchers, 0);
    const auto expected = writers * writes / 2;
    for (int i = 0; i < watchers; ++i)
        while (seen[i] < expected) {
            bson::builder b;
            b.int64("getMore", cursors[i]).string("collection", "$cmd.aggregate");
            const auto reply = clients[i]->command("db", b.int32("maxTimeMS", 10'000).finish());
            REQUIRE(reply);
            const auto count = count_in(*reply);
            REQUIRE(count > 0);
            seen[i] += static_cast<int>(count);
        }
    for (auto& t : threads)
        t.join();
    CHECK(std::ranges::count(seen, expected) == watchers);
    CHECK(set.open_connections() == watchers);
}

TEST_CASE("stand-in: options that make no sense are refused", "[standin]") {
    const auto refused = [](auto change) {
        standin::replica_set_options options;
        change(options);
        CHECK_THROWS(standin::replica_set(options));
    };
    refused([](auto& o) { o.version = "3.6.0"; });
    refused([](auto& o) { o.version = "new"; });
    refused([](auto& o) { o.set_name = ""; });
    refused([](auto& o) { o.users = {{"a", "b", {"king"}}}; });
    refused([](auto& o) { o.recordings = {"/nonexistent.jsonl"}; });
    standin::replica_set first;
    refused([&](auto& o) { o.port = first.port(); });
}
