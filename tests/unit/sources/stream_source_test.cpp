// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "tests/unit/sources/stream_fixture.hpp"

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;

// --- Reading ------------------------------------------------------------------------------------

static asio::awaitable<void> start_from_now(stream_fixture& f) {
    f.set.add(99); // before the start
    co_await start_now(f);
    CHECK(f.source->set_name() == "rs0");
    CHECK(f.source->server_version() == "4.4.0");
    CHECK(f.source->host() == "db1:27017");
    received got;
    // The place where it starts comes before any event.
    co_await take_one(*f.source, got);
    CHECK(got.ids.empty());
    REQUIRE(got.ends.size() == 1);
    CHECK(got.ends[0].is_high_water());
    CHECK(got.ends[0].cluster_time() == bson::timestamp{1001, 2});
    CHECK(bson::find(f.set.opened.at(0), "resumeAfter") == std::nullopt);
    CHECK(bson::find(f.set.opened.at(0), "startAtOperationTime") == std::nullopt);
    CHECK(f.log->count("starts from now at 1970-01-01T00:16:41Z (timestamp 1001, 2)") == 1);

    for (int i = 0; i < 5; ++i)
        f.set.add(i);
    co_await take_events(*f.source, got, 5);
    CHECK(got.ids == numbers(5));
    CHECK(got.ends.back().data() == got.tokens.back());
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

TEST_CASE("a first start is from now and hands out its place", "[sources][stream]") {
    stream_fixture f;
    f.run(start_from_now(f));
}

static asio::awaitable<void> idle_positions(stream_fixture& f) {
    f.lists.collection_include = {"shop.orders"};
    co_await start_at_high_water(f, 1000);
    CHECK(f.log->count("goes on behind 1970-01-01T00:16:40Z (timestamp 1000, 2)") == 1);
    received got;
    f.set.write_elsewhere(5);
    co_await take_one(*f.source, got);
    CHECK(got.ends.back().cluster_time() == bson::timestamp{1005, 2});
    // Replies that move nothing are not handed out: the next batch is the one of the write.
    co_await idle(f);
    co_await idle(f);
    f.set.write_elsewhere(1);
    co_await take_one(*f.source, got);
    CHECK(got.ends.back().cluster_time() == bson::timestamp{1006, 2});
    // So does a batch whose events are all of other namespaces or of unknown types.
    f.set.add(1, "insert", "shop", "items");
    f.set.add(2, "somethingNew");
    co_await take_one(*f.source, got);
    CHECK(got.ids.empty());
    CHECK(got.ends.back().cluster_time() == bson::timestamp{1008, 1});
    CHECK(f.source->skipped() == 2);
    f.set.add(3);
    co_await take_events(*f.source, got, 1);
    CHECK(got.ids == std::vector<std::int32_t>{3});
    co_await f.source->stop();
}

TEST_CASE("fault 69: empty batches, foreign events and unknown types move the position",
          "[sources][stream][fault-69]") {
    stream_fixture f;
    f.run(idle_positions(f));
}

static asio::awaitable<void> reads_ahead(stream_fixture& f) {
    for (int i = 0; i < 10; ++i)
        f.set.add(i);
    co_await start_at_high_water(f, 1000);
    // Nothing was taken: one reply waits, no other getMore goes out.
    co_await until(f.context, [&] { return f.set.count("getMore") == 1; });
    for (int i = 0; i < 100; ++i)
        co_await asio::post(f.context, asio::use_awaitable);
    CHECK(f.set.count("getMore") == 1);
    auto first = co_await f.source->next_batch();
    REQUIRE(first);
    // While the first is held, exactly one more is fetched.
    co_await until(f.context, [&] { return f.set.count("getMore") == 2; });
    for (int i = 0; i < 100; ++i)
        co_await asio::post(f.context, asio::use_awaitable);
    CHECK(f.set.count("getMore") == 2);
    CHECK((*first)->events().size() == 2);
    received rest;
    co_await take_events(*f.source, rest, 8);
    CHECK(rest.ids == std::vector<std::int32_t>{2, 3, 4, 5, 6, 7, 8, 9});
    co_await f.source->stop();
}

TEST_CASE("one reply is read ahead, not more", "[sources][stream]") {
    stream_fixture f;
    f.run(reads_ahead(f));
}

static asio::awaitable<void> old_server(stream_fixture& f) {
    f.set.gives_tokens = false;
    f.set.faults.push_back({"getMore", 0, 1, server_says(43)});
    co_await start_now(f);
    f.set.add(0);
    received got;
    co_await take_events(*f.source, got, 1);
    // Without a token yet, the stream was opened again at the time it began.
    REQUIRE(f.set.opened.size() == 2);
    CHECK(bson::find(f.set.opened[1], "startAtOperationTime")->as_timestamp().t == 1000);
    CHECK(got.ends.back().data() == got.tokens.back());
    f.set.faults.push_back({"getMore", 0, 1, server_says(43)});
    f.set.add(1);
    co_await take_events(*f.source, got, 2);
    CHECK(got.ids == numbers(2));
    co_await f.source->stop();
}

TEST_CASE("servers without post-batch tokens are read too", "[sources][stream]") {
    stream_fixture f;
    f.run(old_server(f));
}

// --- Faults -------------------------------------------------------------------------------------

static asio::awaitable<void> fault_at_boundary(stream_fixture& f, fake_set::fault fault) {
    for (int i = 0; i < 7; ++i)
        f.set.add(i);
    f.set.faults.push_back(std::move(fault));
    co_await start_at_high_water(f, 1000);
    received got;
    co_await take_events(*f.source, got, 7);
    CHECK_FALSE(got.error);
    CHECK(got.ids == numbers(7));
    CHECK(f.set.faults.empty());
    // Always behind the last event that was fetched, never from now.
    for (std::size_t i = 1; i < f.set.opened.size(); ++i)
        CHECK(bson::find(f.set.opened[i], "startAtOperationTime").has_value() !=
              bson::find(f.set.opened[i], "resumeAfter").has_value());
    CHECK(f.source->reopened() >= 1);
    CHECK(f.log->count("to go on follows") == 1);
    f.set.add(7);
    co_await take_events(*f.source, got, 8);
    CHECK(got.ids == numbers(8));
    CHECK(f.log->count("reads changes again from db1:27017") == 1);
    co_await f.source->stop();
    CHECK(f.set.open_cursors() <= 1); // one may be left on a connection that broke
}

TEST_CASE("faults 53 and 105: after every passing error at every batch boundary nothing is missing "
          "or repeated",
          "[sources][stream][fault-53][fault-105]") {
    std::vector<error::diagnostics> errors;
    for (const int code : {6,     7,     89,    91, 189, 262, 9001, 10107, 11600, 11601,
                           11602, 13435, 13436, 43, 133, 222, 234,  237,   50738, 123456})
        errors.push_back(server_says(code));
    errors.push_back(server_says(999, {"ResumableChangeStreamError"}));
    errors.push_back(error::fail(error::errc::network, "connection reset"));
    errors.push_back(error::fail(error::errc::timeout, "no reply in time"));
    errors.push_back(error::fail(error::errc::protocol, "not a reply"));
    for (const auto& e : errors)
        for (unsigned boundary = 0; boundary < 4; ++boundary) {
            INFO(e.describe() << " at boundary " << boundary);
            stream_fixture f;
            f.run(fault_at_boundary(f, {"getMore", boundary, 1, e}));
        }
}

static asio::awaitable<void> too_large_for_now(stream_fixture& f, unsigned boundary,
                                               unsigned times) {
    for (int i = 0; i < 7; ++i)
        f.set.add(i);
    f.set.faults.push_back({"getMore", boundary, times, server_says(10334)});
    co_await start_at_high_water(f, 1000);
    received got;
    co_await take_events(*f.source, got, 7);
    CHECK_FALSE(got.error);
    CHECK(got.ids == numbers(7));
    CHECK(f.source->oversized() == 0);
    CHECK(f.source->reopened() == times);
    co_await f.source->stop();
}

TEST_CASE("an event that is too large once, as its document was looked up, stops nothing",
          "[sources][stream]") {
    for (unsigned boundary = 0; boundary < 4; ++boundary)
        for (unsigned times = 1; times < 4; ++times) {
            INFO(times << " times at boundary " << boundary);
            stream_fixture f;
            f.run(too_large_for_now(f, boundary, times));
        }
}

static asio::awaitable<void> fault_at_start(stream_fixture& f, std::string command,
                                            error::diagnostics d) {
    f.set.add(0);
    f.set.faults.push_back({std::move(command), 0, 10, std::move(d)});
    co_await start_at_high_water(f, 1000);
    received got;
    co_await take_events(*f.source, got, 1);
    CHECK(got.ids == numbers(1));
    // Attempts 1, 2, 4 and 8 of 10.
    CHECK(f.log->count("to go on follows") == 4);
    co_await f.source->stop();
}

TEST_CASE("fault 46: start waits through faults that pass", "[sources][stream][fault-46]") {
    const auto gone = error::fail(error::errc::network, "refused");
    for (const auto* command : {"connect", "buildInfo", "aggregate"}) {
        INFO(command);
        stream_fixture f;
        f.run(fault_at_start(f, command, gone));
    }
    for (const auto* command : {"connect", "aggregate"}) {
        stream_fixture f;
        f.run(fault_at_start(f, command, server_says(13436)));
    }
}

static asio::awaitable<void> terminal(stream_fixture& f, fake_set::fault fault, error::errc code,
                                      std::string says) {
    f.set.faults.push_back(std::move(fault));
    f.make();
    auto from = at_high_water(1000);
    auto started = co_await f.source->start(std::move(from));
    if (started) {
        received got;
        f.set.add(0);
        co_await take_events(*f.source, got, 1);
        REQUIRE(got.error);
        started = *got.error;
    }
    REQUIRE_FALSE(started);
    CHECK(started.error().code == code);
    INFO(started.error().text);
    CHECK(started.error().text.find(says) != std::string::npos);
    // And for ever.
    received again;
    co_await take_error(*f.source, again);
    CHECK(again.error->text == started.error().text);
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

TEST_CASE("what does not pass is a terminal error with a clear text", "[sources][stream]") {
    struct row {
        const char* command;
        unsigned times;
        error::diagnostics error;
        error::errc code;
        const char* says;
    };
    const row rows[] = {
        {"aggregate", 1, server_says(13), error::errc::server,
         "rights changeStream and find on the deployment"},
        {"connect", 1, error::fail(error::errc::authentication, "SCRAM failed"),
         error::errc::authentication, "mongodb.password"},
        {"aggregate", 1, server_says(40573), error::errc::server, "standalone"},
        {"aggregate", 1, server_says(40324), error::errc::server, "pipeline"},
        {"aggregate", 1, server_says(286), error::errc::position_lost,
         "the position of 1970-01-01T00:16:40Z (timestamp 1000, 2) is lost"},
        {"aggregate", 1, server_says(260), error::errc::position_lost, "resume token"},
        {"getMore", 1, server_says(280), error::errc::position_lost, "oldest entry"},
        // Once for the batch, then three times for the event alone.
        {"getMore", 4, server_says(10334), error::errc::server,
         "larger than the server can send (3 attempts at the same position): insert of "
         "shop.orders (resume token 82"},
        {"aggregate", 3, server_says(123456), error::errc::server, "3 attempts"},
        {"connect", 1, error::fail(error::errc::configuration, "URI wrong"),
         error::errc::configuration, "URI wrong"},
    };
    for (const auto& r : rows) {
        INFO(r.command << " " << r.error.describe());
        stream_fixture f;
        f.run(terminal(f, {r.command, 0, r.times, r.error}, r.code, r.says));
    }
}

static asio::awaitable<void> refused_server(stream_fixture& f, std::string says) {
    f.make();
    event::position nowhere;
    const auto started = co_await f.source->start(std::move(nowhere));
    REQUIRE_FALSE(started);
    CHECK(started.error().code == error::errc::unsupported);
    CHECK(started.error().text.find(says) != std::string::npos);
    co_await f.source->stop();
}

TEST_CASE("a standalone server and a mongos are refused", "[sources][stream]") {
    stream_fixture standalone;
    standalone.set.set_name = "";
    standalone.set.server_type = "Standalone";
    standalone.run(refused_server(standalone, "db1:27017 is a standalone server"));
    stream_fixture mongos;
    mongos.set.set_name = "";
    mongos.set.server_type = "Mongos";
    mongos.run(refused_server(mongos, "is a mongos"));
}

static asio::awaitable<void> another_set(stream_fixture& f) {
    co_await start_at_high_water(f, 1000);
    f.set.set_name = "rs1";
    f.set.faults.push_back({"getMore", 0, 1, error::fail(error::errc::network, "gone")});
    f.set.add(0);
    received got;
    co_await take_events(*f.source, got, 2);
    REQUIRE(got.error);
    CHECK(got.error->text.find("now belongs to replica set rs1, not rs0") != std::string::npos);
    co_await f.source->stop();
}

TEST_CASE("a server that turns out to be of another set is refused", "[sources][stream]") {
    stream_fixture f;
    f.run(another_set(f));
}

static asio::awaitable<void> unreadable(stream_fixture& f) {
    f.settings.batch_size = 10;
    f.set.add(0);
    const auto token = fake_set::event_token(1002);
    bson::builder b;
    b.document("_id", token).string("operationType", "insert");
    f.set.add_raw(1002, b.finish());
    f.set.add(2);
    co_await start_at_high_water(f, 1000);
    received got;
    co_await take_events(*f.source, got, 10);
    CHECK(got.ids == std::vector<std::int32_t>{0});
    CHECK(got.ends.empty());
    REQUIRE(got.error);
    CHECK(got.error->code == error::errc::bad_data);
    co_await f.source->stop();
}

TEST_CASE("a document that cannot be read ends the stream in front of it", "[sources][stream]") {
    stream_fixture f;
    f.run(unreadable(f));
}

static asio::awaitable<void> reopening_fails(stream_fixture& f) {
    co_await start_now(f);
    received got;
    f.set.add(0);
    co_await take_events(*f.source, got, 1);
    f.set.faults.push_back({"getMore", 0, 1, server_says(237)});
    f.set.faults.push_back({"aggregate", 0, 2, error::fail(error::errc::network, "reset")});
    f.set.faults.push_back({"aggregate", 0, 3, server_says(11602)});
    f.set.add(1);
    co_await take_events(*f.source, got, 2);
    CHECK_FALSE(got.error);
    CHECK(got.ids == numbers(2));
    CHECK(f.set.count("aggregate") == 7);
    CHECK(f.source->reopened() == 6);
    CHECK(f.log->count("reads changes again from db1:27017") == 1);
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

TEST_CASE("fault 105: reopening fails five times, then works", "[sources][stream][fault-105]") {
    stream_fixture f;
    f.run(reopening_fails(f));
}
