// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/pipeline.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/pipeline/fakes.hpp"

#include <numeric>

using namespace cdc;
using namespace cdc::test;
using pipeline::connector_state;
using std::chrono::milliseconds;

namespace {

std::vector<int> numbers(int first, int last) {
    std::vector<int> out(static_cast<std::size_t>(last - first + 1));
    std::iota(out.begin(), out.end(), first);
    return out;
}

} // namespace

TEST_CASE("pipeline: events reach all sinks in order and their position is stored",
          "[pipeline][connector]") {
    connector_bench b({"a", "b"});
    auto second = std::make_shared<fake_encoder>("second:");
    b.encoders.push_back(second);
    b.start();
    b.source->feed(1, 1500);
    b.source->feed(1501, 1510, 1600);
    REQUIRE(b.until([&] { return b.store->at("a") == 1600 && b.store->at("b") == 1600; }));
    CHECK(b.sinks["a"]->got == numbers(1, 1510));
    CHECK(b.sinks["b"]->got == numbers(1, 1510));
    CHECK(b.sinks["a"]->values[41] == "42");
    CHECK(b.sinks["b"]->values[41] == "second:42");
    CHECK(b.sinks["a"]->sequences == b.sinks["b"]->sequences);
    CHECK(b.sinks["a"]->writes > 2);
    const auto s = b.line->status();
    CHECK(s.state == connector_state::running);
    CHECK(s.events == 1510);
    CHECK(s.records == 1510);
    CHECK(s.bytes > 0);
    CHECK(s.last_event_time.t == 1510);
    CHECK(s.queue.items == 0);
    REQUIRE(s.sinks.size() == 2);
    CHECK(s.sinks[0].delivered == 1510);
    CHECK(s.sinks[0].pending == 0);
    CHECK(place_number(*s.sinks[0].position) == 1600);
    CHECK(b.log->count("reading starts from now") == 1);
    const auto end = b.stop(milliseconds{5000});
    CHECK_FALSE(end.error);
    CHECK(end.sinks[0].delivered == 1510);
    CHECK(end.sinks[0].undelivered == 0);
    CHECK(b.line->status().state == connector_state::stopped);
    CHECK(b.line->status().ended);
    CHECK(b.source->stopped);
    CHECK(b.sinks["a"]->stopped);
    CHECK_FALSE(b.store->went_back);
    CHECK(b.changes >= 2);
}

TEST_CASE("fault 58: pipeline: the stored position is never past the first record not acknowledged",
          "[pipeline][connector][fault-58]") {
    connector_bench b({"a"});
    auto encoder = std::make_shared<fake_encoder>();
    encoder->tombstone_every = 10; // 1..400 are 440 records
    b.encoders = {encoder};
    b.build();
    b.sinks["a"]->automatic = false;
    b.start();
    b.source->feed(1, 1000, 1001);
    auto& sink = *b.sinks["a"];
    REQUIRE(b.until([&] { return sink.got.size() == 1100; }));
    sink.acknowledge(500, 1100);
    sink.acknowledge(2, 439);
    b.settle();
    CHECK(b.store->at("a") == 0);
    sink.acknowledge(1, 1);
    // Record 440 is the tombstone of event 400, so that event is not complete.
    REQUIRE(b.until([&] { return b.store->at("a") == 399; }));
    const auto saves = b.store->saves;
    // A kill at this moment: what the store holds is all that the next run knows.
    b.stop(milliseconds{0});
    CHECK(b.store->at("a") == 399);
    CHECK(b.store->saves == saves);

    connector_bench next({"a"});
    next.store = b.store;
    next.start();
    REQUIRE(next.until_state(connector_state::running));
    CHECK(next.source->opened_at == 399);
    next.source->feed(1, 1000, 1001);
    REQUIRE(next.until([&] { return next.store->at("a") == 1001; }));
    CHECK(next.sinks["a"]->got == numbers(400, 1000));
    CHECK_FALSE(b.store->went_back);
}

TEST_CASE("pipeline: the slowest sink sets the pace and the bound holds", "[pipeline][connector]") {
    connector_bench b({"fast", "slow"});
    b.options.queue.items = 100;
    b.options.slice.records = 20;
    b.build();
    b.sinks["slow"]->automatic = false;
    b.sinks["slow"]->flush_acknowledges = false;
    b.start();
    for (int i = 0; i < 75; ++i)
        b.source->feed(i * 20 + 1, i * 20 + 20);
    REQUIRE(b.until([&] { return b.sinks["slow"]->flushes > 0; }));
    b.settle();
    CHECK(b.line->status().queue.items == 100);
    CHECK(b.sinks["fast"]->got == numbers(1, 100));
    CHECK(b.sinks["slow"]->got == numbers(1, 100));
    CHECK(b.source->pulls <= 6);
    std::size_t most = 0;
    auto& slow = *b.sinks["slow"];
    REQUIRE(b.until([&] {
        most = std::max(most, b.line->status().queue.items);
        if (!slow.unacknowledged.empty())
            slow.acknowledge(*slow.unacknowledged.begin(), *slow.unacknowledged.begin());
        return slow.got.size() == 1500 && slow.unacknowledged.empty();
    }));
    CHECK(most <= 100);
    CHECK(slow.got == numbers(1, 1500));
    CHECK(b.sinks["fast"]->got == numbers(1, 1500));
}

TEST_CASE("pipeline: memory in flight is bounded in bytes whatever a sink holds on to",
          "[pipeline][connector]") {
    connector_bench b({"a"});
    auto encoder = std::make_shared<fake_encoder>();
    encoder->padding = 10000;
    b.encoders = {encoder};
    b.options.queue.bytes = 500000;
    b.options.slice.bytes = 50000;
    b.build();
    b.sinks["a"]->automatic = false;
    b.start();
    b.sinks["a"]->flush_acknowledges = false;
    b.source->feed(1, 1000);
    REQUIRE(b.until([&] { return b.sinks["a"]->flushes > 0; }));
    b.settle();
    CHECK(b.line->status().queue.bytes <= 500000);
    CHECK(b.line->status().queue.bytes > 250000);
    CHECK(b.sinks["a"]->got.size() < 60);
    b.sinks["a"]->flush_acknowledges = true;
    b.sinks["a"]->acknowledge_all();
    REQUIRE(b.until([&] { return b.sinks["a"]->got.size() == 1000; }));
}

TEST_CASE("pipeline: a sink that saves up acknowledgements is asked to hurry",
          "[pipeline][connector]") {
    connector_bench b({"a"});
    b.options.queue.items = 10;
    b.build();
    b.sinks["a"]->automatic = false; // only flush acknowledges
    b.start();
    for (int i = 0; i < 100; ++i)
        b.source->feed(i * 10 + 1, i * 10 + 10);
    REQUIRE(b.until([&] { return b.sinks["a"]->got.size() == 1000; }));
    CHECK(b.sinks["a"]->flushes >= 99);
}

TEST_CASE("pipeline: sinks with different positions get what each lacks", "[pipeline][connector]") {
    connector_bench b({"ahead", "behind"});
    b.store->put("ahead", 25);
    b.store->put("behind", 10);
    b.start();
    REQUIRE(b.until_state(connector_state::running));
    CHECK(b.source->opened_at == 10);
    b.source->feed(11, 40, 50);
    REQUIRE(b.until([&] { return b.store->at("ahead") == 50 && b.store->at("behind") == 50; }));
    CHECK(b.sinks["ahead"]->got == numbers(26, 40));
    CHECK(b.sinks["behind"]->got == numbers(11, 40));
    CHECK_FALSE(b.store->went_back);
    const auto end = b.stop(milliseconds{5000});
    CHECK(end.sinks[0].delivered == 15);
    CHECK(end.sinks[0].undelivered == 0);
    CHECK(end.sinks[1].delivered == 30);
}

TEST_CASE("pipeline: the source is told the lowest position that is stored, and its numbers are "
          "in the status",
          "[pipeline][connector]") {
    connector_bench b({"quick", "slow"});
    b.start();
    REQUIRE(b.until_state(connector_state::running));
    b.sinks["slow"]->automatic = false;
    b.source->feed(1, 0, 5); // where it began
    REQUIRE(b.until([&] { return b.source->told_stored == 5; }));
    b.source->feed(6, 10);
    REQUIRE(b.until([&] { return b.store->at("quick") == 10; }));
    CHECK(b.source->told_stored == 5);
    b.sinks["slow"]->acknowledge(1, 2);
    REQUIRE(b.until([&] { return b.source->told_stored == 7; }));
    const auto status = b.line->status().source;
    CHECK(status.reopened == 3);
    CHECK(status.gaps == 1);
    CHECK(status.headroom == std::chrono::hours(2));
}

TEST_CASE("fault 52: pipeline: the position of a sink that is ahead does not fall back meanwhile",
          "[pipeline][connector][fault-52]") {
    connector_bench b({"ahead", "behind"});
    b.store->put("ahead", 25);
    b.store->put("behind", 10);
    b.start();
    REQUIRE(b.until_state(connector_state::running));
    b.source->feed(11, 20);
    REQUIRE(b.until([&] { return b.store->at("behind") == 20; }));
    CHECK(b.store->at("ahead") == 25);
    CHECK(b.sinks["ahead"]->got.empty());
    b.stop(milliseconds{5000});
    CHECK(b.store->at("ahead") == 25);
    CHECK_FALSE(b.store->went_back);
}

TEST_CASE("pipeline: a new sink starts at the lowest position and the log says so",
          "[pipeline][connector]") {
    connector_bench b({"old", "new"});
    b.store->put("old", 7);
    b.store->put("gone", 3);
    b.start();
    REQUIRE(b.until_state(connector_state::running));
    CHECK(b.source->opened_at == 7);
    CHECK(b.log->count("sink new is new: it starts at the lowest position") == 1);
    CHECK(b.log->count("stored position of sink gone") == 1);
    b.source->feed(8, 9);
    REQUIRE(b.until([&] { return b.store->at("new") == 9; }));
    CHECK(b.sinks["new"]->got == numbers(8, 9));
}

TEST_CASE("pipeline: a renamed sink does not go unnoticed", "[pipeline][connector]") {
    connector_bench b({"new"});
    b.store->put("old", 7);
    b.start();
    REQUIRE(b.until_state(connector_state::running));
    CHECK(b.source->opened_at == 0);
    CHECK(b.log->count("warn pipeline: none of the connector's sinks has a stored position") == 1);
}

TEST_CASE("pipeline: events without records and empty batches move the position",
          "[pipeline][connector]") {
    connector_bench b({"a"});
    auto encoder = std::make_shared<fake_encoder>();
    encoder->nothing_every = 1;
    b.encoders = {encoder};
    b.start();
    b.source->feed(1, 5);
    REQUIRE(b.until([&] { return b.store->at("a") == 5; }));
    b.source->feed(6, 5, 8);
    REQUIRE(b.until([&] { return b.store->at("a") == 8; }));
    CHECK(b.sinks["a"]->writes == 0);
    CHECK(b.line->status().events == 5);
    CHECK(b.line->status().records == 0);
}

TEST_CASE("fault 63: pipeline: a changed identity is refused, naming both",
          "[pipeline][connector][fault-63]") {
    connector_bench first({"a"});
    first.start();
    first.source->feed(1, 3);
    REQUIRE(first.until([&] { return first.store->at("a") == 3; }));
    first.stop(milliseconds{5000});

    connector_bench b({"a"});
    b.store = first.store;
    b.identity = R"({"set":"rs9"})";
    SECTION("the source would read on") {}
    SECTION("the source refuses the position") {
        b.source->start_error = error::fail(error::errc::position_lost, "gone");
    }
    b.start();
    REQUIRE(b.until_ended());
    const auto s = b.line->status();
    CHECK(s.state == connector_state::failed);
    REQUIRE(s.error);
    CHECK(s.error->code == error::errc::state_invalid);
    CHECK(s.error->text.find("rs0") != std::string::npos);
    CHECK(s.error->text.find("rs9") != std::string::npos);
    CHECK(b.store->at("a") == 3);
    CHECK(*b.store->load_identity("shop") == R"({"set":"rs0"})");
    CHECK(b.source->stopped);
    CHECK(b.sinks["a"]->stopped);
}

TEST_CASE("pipeline: an identity without positions may change", "[pipeline][connector]") {
    connector_bench b({"a"});
    REQUIRE(b.store->save_identity("shop", "{\"set\":\"old\"}"));
    b.start();
    REQUIRE(b.until_state(connector_state::running));
    CHECK(*b.store->load_identity("shop") == R"({"set":"rs0"})");
}

TEST_CASE("pipeline: an unreadable stored position stops the start", "[pipeline][connector]") {
    connector_bench b({"a"});
    REQUIRE(b.store->inner.save({{{"shop", "a", "server"}, "{\"hello\":1}", 1}}));
    b.start();
    REQUIRE(b.until_ended());
    CHECK(b.line->status().error->code == error::errc::state_invalid);
    CHECK(b.line->status().error->text.find("sink a") != std::string::npos);
    CHECK_FALSE(b.source->started);
}

TEST_CASE("pipeline: where a first start began is stored at once", "[pipeline][connector]") {
    connector_bench b({"a"});
    b.options.flush_interval = std::chrono::hours{1};
    b.start();
    b.source->feed(1, 0, 5); // as a source does that starts from now
    REQUIRE(b.until([&] { return b.store->at("a") == 5; }));
    b.source->feed(6, 10);
    REQUIRE(b.until([&] { return b.sinks["a"]->got.size() == 5; }));
    // A kill at this moment: the next run reads from where this one began.
    connector_bench next({"a"});
    next.store = b.store;
    next.start();
    REQUIRE(next.until_state(connector_state::running));
    CHECK(next.source->opened_at == 5);
}

TEST_CASE("pipeline: stop delivers what was read and stores its position",
          "[pipeline][connector]") {
    connector_bench b({"a"});
    b.options.flush_interval = std::chrono::hours{1};
    b.build();
    b.sinks["a"]->automatic = false; // acknowledged by the flush that stop brings
    b.start();
    b.source->feed(1, 700, 800);
    REQUIRE(b.until([&] { return b.line->status().records == 700; }));
    const auto end = b.stop(milliseconds{5000});
    CHECK_FALSE(end.error);
    CHECK(end.sinks[0].delivered == 700);
    CHECK(end.sinks[0].undelivered == 0);
    CHECK(b.sinks["a"]->got == numbers(1, 700));
    CHECK(b.store->at("a") == 800);
    CHECK(b.line->status().state == connector_state::stopped);
}

TEST_CASE("pipeline: stop gives up at the deadline and keeps what was acknowledged",
          "[pipeline][connector]") {
    connector_bench b({"good", "stuck"});
    b.options.queue.items = 100;
    b.build();
    b.sinks["stuck"]->block_writes = true;
    b.start();
    b.source->feed(1, 50);
    REQUIRE(b.until([&] { return b.sinks["stuck"]->writes == 1; }));
    const auto end = b.stop(milliseconds{20});
    CHECK_FALSE(end.error);
    CHECK(end.sinks[0].undelivered == 0);
    CHECK(end.sinks[1].delivered == 0);
    CHECK(end.sinks[1].undelivered == 50);
    CHECK(b.store->at("good") == 50);
    CHECK(b.store->at("stuck") == 0);
    CHECK(b.line->status().state == connector_state::stopped);
    CHECK(b.log->count("error") == 0);
}

TEST_CASE("pipeline: stop works while the source waits, and before a start",
          "[pipeline][connector]") {
    connector_bench waiting({"a"});
    waiting.source->hang_at_start = true;
    waiting.start();
    REQUIRE(waiting.until([&] { return waiting.source->started; }));
    CHECK(waiting.line->status().state == connector_state::starting);
    const auto end = waiting.stop(milliseconds{5000});
    CHECK_FALSE(end.error);
    CHECK(waiting.line->status().state == connector_state::stopped);
    CHECK(waiting.source->stopped);

    connector_bench never({"a"});
    never.build();
    never.stop(milliseconds{10});
    CHECK(never.line->status().state == connector_state::stopped);
    CHECK_FALSE(never.source->started);
}

TEST_CASE("pipeline: a failing sink ends the connector, the others finish",
          "[pipeline][connector]") {
    connector_bench b({"good", "bad"});
    b.options.slice.records = 10;
    b.options.write_bytes = 1;
    b.build();
    b.sinks["bad"]->fail_at_write = 2;
    b.start();
    b.source->feed(1, 50);
    REQUIRE(b.until_ended());
    const auto s = b.line->status();
    CHECK(s.state == connector_state::failed);
    REQUIRE(s.error);
    CHECK(s.error->code == error::errc::io);
    CHECK(s.error->text == "sink bad: disk on fire");
    CHECK(b.store->at("bad") == 10);
    CHECK(b.store->at("good") == static_cast<int>(b.sinks["good"]->got.size()));
    CHECK(b.store->at("good") >= 20);
    CHECK(b.source->cancelled);
    CHECK(b.source->stopped);
    CHECK(b.sinks["good"]->stopped);
    CHECK(b.sinks["bad"]->stopped);
    const auto end = b.stop(milliseconds{10});
    REQUIRE(end.error);
    CHECK(end.error->text == "sink bad: disk on fire");
    CHECK(b.line->status().state == connector_state::failed);
}

TEST_CASE("pipeline: a sink that cannot start fails the connector before reading",
          "[pipeline][connector]") {
    connector_bench b({"a"});
    b.build();
    b.sinks["a"]->start_error = error::fail(error::errc::state_locked, "taken");
    b.start();
    REQUIRE(b.until_ended());
    CHECK(b.line->status().error->code == error::errc::state_locked);
    CHECK(b.line->status().error->text == "sink a: taken");
    CHECK_FALSE(b.source->started);
}

TEST_CASE("pipeline: a failing source ends the connector after what it gave",
          "[pipeline][connector]") {
    connector_bench b({"a"});
    b.start();
    b.source->feed(1, 5);
    b.source->feed_error(error::fail(error::errc::position_lost, "history is gone"));
    REQUIRE(b.until_ended());
    CHECK(b.line->status().state == connector_state::failed);
    CHECK(b.line->status().error->code == error::errc::position_lost);
    CHECK(b.sinks["a"]->got == numbers(1, 5));
    CHECK(b.store->at("a") == 5);
}

TEST_CASE("pipeline: an event that cannot be encoded stops it there", "[pipeline][connector]") {
    connector_bench b({"a", "b"});
    auto bad = std::make_shared<fake_encoder>("x");
    bad->bad = 8;
    b.encoders.push_back(bad);
    b.start();
    b.source->feed(1, 20);
    REQUIRE(b.until_ended());
    const auto s = b.line->status();
    REQUIRE(s.error);
    CHECK(s.error->code == error::errc::bad_data);
    CHECK(s.error->text.find("event of db.c at position 8200000008") != std::string::npos);
    CHECK(s.error->text.find("cluster time 8.1") != std::string::npos);
    CHECK(b.sinks["a"]->got == numbers(1, 7));
    CHECK(b.sinks["b"]->got == numbers(1, 7));
    CHECK(b.store->at("a") == 7);
}

TEST_CASE("pipeline: encoders that disagree are a bug that is found", "[pipeline][connector]") {
    connector_bench b({"a", "b"});
    auto other = std::make_shared<fake_encoder>();
    other->tombstone_every = 3;
    b.encoders.push_back(other);
    b.start();
    b.source->feed(1, 5);
    REQUIRE(b.until_ended());
    CHECK(b.line->status().error->code == error::errc::internal);
    CHECK(b.sinks["a"]->got == numbers(1, 2));
}

TEST_CASE("pipeline: a sink that acknowledges twice fails", "[pipeline][connector]") {
    connector_bench b({"a"});
    b.start();
    b.source->feed(1, 5);
    REQUIRE(b.until([&] { return b.store->at("a") == 5; }));
    b.sinks["a"]->context.acknowledge(3, 3);
    REQUIRE(b.until_ended());
    CHECK(b.line->status().error->code == error::errc::internal);
}

TEST_CASE("pipeline: failing saves are tried again, then end the connector",
          "[pipeline][connector]") {
    connector_bench b({"a"});
    b.options.store_attempts = 4;
    SECTION("it passes") {
        b.store->failing_saves = 3;
        b.start();
        b.source->feed(1, 5);
        REQUIRE(b.until([&] { return b.store->at("a") == 5; }));
        CHECK(b.line->status().state == connector_state::running);
        CHECK(b.log->count("positions were not stored") == 3);
    }
    SECTION("it stays") {
        b.store->failing_saves = 1000;
        b.start();
        b.source->feed(1, 5);
        REQUIRE(b.until_ended());
        CHECK(b.line->status().state == connector_state::failed);
        CHECK(b.line->status().error->text == "no space left");
        CHECK(b.store->at("a") == 0);
    }
}

TEST_CASE("pipeline: after a failure the others get no more than their time",
          "[pipeline][connector]") {
    connector_bench b({"stuck", "bad"});
    b.options.failure_drain = milliseconds{20};
    b.build();
    b.sinks["stuck"]->block_writes = true;
    b.sinks["bad"]->fail_at_write = 1;
    b.start();
    b.source->feed(1, 5);
    REQUIRE(b.until_ended());
    CHECK(b.line->status().error->text == "sink bad: disk on fire");
    CHECK(b.store->at("stuck") == 0);
}
