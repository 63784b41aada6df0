// SPDX-License-Identifier: Apache-2.0
// The silent gap: a server that has lost the oplog entry of an event token opens the stream all the
// same and gives positions behind the gap.
#include "tests/unit/sources/stream_fixture.hpp"

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;

static asio::awaitable<void> lost(stream_fixture& f, std::string says) {
    f.set.add(0);
    f.set.add(1);
    f.set.write_elsewhere(100);
    f.set.truncate_before(1050);
    co_await start_at_event(f, 1001);
    received got;
    co_await take_error(*f.source, got);
    CHECK(got.ends.empty());
    REQUIRE(got.error);
    CHECK(got.error->code == error::errc::position_lost);
    CHECK(got.error->server_code == 286);
    INFO(got.error->text);
    CHECK(
        got.error->text.find("the position of 1970-01-01T00:16:41Z (timestamp 1001, 1) is lost") !=
        std::string::npos);
    CHECK(got.error->text.find(says) != std::string::npos);
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

/// Where the oplog may be read it is asked before the stream is opened.
static asio::awaitable<void> lost_at_once(stream_fixture& f, event::position from) {
    f.set.add(0);
    f.set.add(1);
    f.set.write_elsewhere(100);
    f.set.truncate_before(1050);
    f.make();
    const auto started = co_await f.source->start(std::move(from));
    REQUIRE_FALSE(started);
    CHECK(started.error().code == error::errc::position_lost);
    CHECK(started.error().server_code == 286);
    const std::string position = "the position of 1970-01-01T00:16:41Z (timestamp 1001, ";
    const std::string range =
        "is lost, changes behind it can no longer be read (oplog: oldest entry "
        "1970-01-01T00:17:30Z (timestamp 1050, 1), newest "
        "1970-01-01T00:18:22Z (timestamp 1102, 1))";
    INFO(started.error().text);
    CHECK(started.error().text.find(position) != std::string::npos);
    CHECK(started.error().text.find(range) != std::string::npos);
    CHECK(f.set.opened.empty());
    co_await f.source->stop();
}

TEST_CASE("fault 44: a position older than the oplog is noticed before the stream is opened",
          "[sources][stream][gap][fault-44]") {
    for (const bool event_token : {true, false}) {
        stream_fixture f;
        auto from = event_token ? at_event(1001) : at_high_water(1001);
        f.run(lost_at_once(f, std::move(from)));
    }
}

TEST_CASE("without the right to read the oplog its range is unknown", "[sources][stream][gap]") {
    stream_fixture f;
    f.set.readable_oplog = false;
    f.run(lost(f, "oldest entry unknown, newest unknown"));
}

static asio::awaitable<void> lost_with_event(stream_fixture& f) {
    f.set.add(0);
    f.set.add(1);
    f.set.add(2);
    f.set.truncate_before(1003);
    co_await start_at_event(f, 1001);
    received got;
    co_await take_error(*f.source, got);
    REQUIRE(got.error);
    CHECK(got.error->code == error::errc::position_lost);
    CHECK(got.error->server_code == 280);
    co_await f.source->stop();
}

TEST_CASE("faults 44 and 173: the server's own error behind the gap means the same",
          "[sources][stream][gap][fault-44][fault-173]") {
    stream_fixture f;
    f.set.readable_oplog = false;
    f.run(lost_with_event(f));
}

static asio::awaitable<void> proved_by_probe(stream_fixture& f) {
    f.set.add(0);
    f.set.write_elsewhere(100);
    co_await start_at_event(f, 1001);
    received got;
    co_await take_one(*f.source, got);
    // The position came only behind the probe, which looked at the token's time on this server.
    REQUIRE(f.set.opened.size() == 2);
    CHECK(bson::find(f.set.opened[1], "startAtOperationTime")->as_timestamp() ==
          bson::timestamp{1001, 1});
    CHECK(got.ends.back().cluster_time().t == 1101);
    CHECK(f.set.open_cursors() == 1); // the probe's is closed again
    // Proved once for this opening.
    f.set.write_elsewhere(1);
    co_await take_one(*f.source, got);
    CHECK(f.set.opened.size() == 2);
    co_await f.source->stop();
}

TEST_CASE("a probe proves an event token on a quiet stream", "[sources][stream][gap]") {
    stream_fixture f;
    f.run(proved_by_probe(f));
}

static asio::awaitable<void> proved_by_event(stream_fixture& f) {
    f.set.add(0);
    f.set.add(1);
    co_await start_at_event(f, 1001);
    received got;
    co_await take_events(*f.source, got, 1);
    CHECK(got.ids == std::vector<std::int32_t>{1});
    CHECK(got.ends.size() == 1);
    f.set.write_elsewhere(1);
    co_await take_one(*f.source, got);
    CHECK(f.set.opened.size() == 1);
    co_await f.source->stop();
}

TEST_CASE("an event proves its token", "[sources][stream][gap]") {
    stream_fixture f;
    f.run(proved_by_event(f));
}

static asio::awaitable<void> high_water(stream_fixture& f) {
    f.set.write_elsewhere(100);
    co_await start_at_high_water(f, 1001);
    received got;
    f.set.write_elsewhere(1);
    co_await take_one(*f.source, got);
    CHECK(f.set.opened.size() == 1);
    co_await f.source->stop();
}

TEST_CASE("a high-water token needs no proof", "[sources][stream][gap]") {
    stream_fixture f;
    f.run(high_water(f));
}

static asio::awaitable<void> again_after_reopening(stream_fixture& f, bool gone) {
    co_await start_at_high_water(f, 1000);
    received got;
    f.set.add(0);
    co_await take_events(*f.source, got, 1);
    CHECK(got.ends.back().cluster_time() == bson::timestamp{1001, 1});
    CHECK_FALSE(got.ends.back().is_high_water());
    // The connection breaks; meanwhile the oplog may roll over the last event.
    co_await until(f.context, [&] { return f.set.waiting; });
    f.set.faults.push_back({"getMore", 0, 1, error::fail(error::errc::network, "reset")});
    co_await idle(f);
    co_await until(f.context, [&] { return f.set.opened.size() == 2 && f.set.waiting; });
    CHECK(bson::find_path(f.set.opened.back(), "resumeAfter._data")->as_string() ==
          got.tokens.back());
    f.set.write_elsewhere(100);
    if (gone)
        f.set.truncate_before(1050);
    received more;
    const bool came = co_await take(*f.source, more);
    CHECK(came != gone);
    if (gone) {
        CHECK(more.error->code == error::errc::position_lost);
    } else {
        CHECK(more.ends.back().cluster_time().t == 1101);
    }
    co_await f.source->stop();
}

TEST_CASE("the rule holds for every reopening at an event token", "[sources][stream][gap]") {
    for (const bool gone : {false, true}) {
        INFO("gone " << gone);
        stream_fixture f;
        f.run(again_after_reopening(f, gone));
    }
}

static asio::awaitable<void> broken_probe(stream_fixture& f, error::diagnostics d, bool proves) {
    f.set.add(0);
    f.set.write_elsewhere(100);
    f.set.faults.push_back({"getMore", 1, 1, std::move(d)}); // the second is the probe's
    co_await start_at_event(f, 1001);
    received got;
    co_await take_one(*f.source, got);
    CHECK(got.ends.back().cluster_time().t == 1101);
    CHECK(f.set.faults.empty());
    REQUIRE(f.set.opened.size() == (proves ? 2 : 4));
    if (!proves) {
        // Opened again at the same token, and probed again.
        CHECK(bson::find_path(f.set.opened[2], "resumeAfter._data")->as_string() ==
              at_event(1001).data());
        CHECK(bson::find(f.set.opened[3], "startAtOperationTime"));
    }
    co_await f.source->stop();
}

TEST_CASE("a probe that fails otherwise proves nothing and is made again",
          "[sources][stream][gap]") {
    for (const auto& d :
         {error::fail(error::errc::network, "reset"), server_says(11600), server_says(123456)}) {
        INFO(d.describe());
        stream_fixture f;
        f.run(broken_probe(f, d, false));
    }
    // An event too large to send was found behind the start, so the start is there.
    stream_fixture f;
    f.run(broken_probe(f, server_says(10334), true));
}
