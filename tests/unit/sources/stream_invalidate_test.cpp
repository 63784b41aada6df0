// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "tests/unit/sources/stream_fixture.hpp"

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;

static asio::awaitable<void> goes_on_behind(stream_fixture& f) {
    f.settings.batch_size = 10;
    f.set.add(0);
    f.set.add(1);
    f.set.add(9, "drop");
    const auto end = f.set.add(9, "invalidate");
    f.set.add(2);
    f.set.add(3);
    co_await start_at_high_water(f, 1000);
    received got;
    co_await take_events(*f.source, got, 2);
    CHECK(got.ids == numbers(2));
    // The invalidate's own position is what is stored: only behind it the stream can go on.
    REQUIRE_FALSE(got.ends.empty());
    CHECK(got.ends.back().is_from_invalidate());
    CHECK(got.ends.back().cluster_time().t == end);
    co_await take_events(*f.source, got, 4);
    CHECK(got.ids == numbers(4));
    REQUIRE(f.set.opened.size() >= 2);
    CHECK(bson::find_path(f.set.opened[1], "startAfter._data")->as_string() ==
          bson::find(fake_set::event_token(end, true), "_data")->as_string());
    CHECK(f.source->reopened() == 1);
    CHECK(f.log->count("was dropped or renamed") == 1);
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

TEST_CASE("a stream that was invalidated goes on behind that", "[sources][stream]") {
    stream_fixture f;
    f.run(goes_on_behind(f));
}

static asio::awaitable<void> starts_there(stream_fixture& f, bool start_after) {
    f.set.has_start_after = start_after;
    f.set.add(9, "drop");
    const auto end = f.set.add(9, "invalidate");
    f.set.add(0);
    f.set.add(1);
    f.set.add(9, "drop");
    f.set.add(9, "invalidate");
    f.set.add(2);
    const auto token = fake_set::event_token(end, true);
    event::position from{token, {end, 1}};
    co_await start_at(f, std::move(from));
    received got;
    co_await take_events(*f.source, got, 3);
    CHECK(got.ids == numbers(3));
    CHECK_FALSE(got.error);
    std::size_t by_time = 0;
    std::size_t asked = 0;
    for (const auto& stage : f.set.opened) {
        CHECK(bson::find(stage, "resumeAfter") == std::nullopt);
        by_time += bson::find(stage, "startAtOperationTime").has_value();
        asked += bson::find(stage, "startAfter").has_value();
    }
    if (start_after) {
        CHECK(asked == 2);
        CHECK(f.log->count("refuses startAfter") == 0);
    } else {
        // Asked once, then never again.
        CHECK(asked == 1);
        CHECK(by_time >= 2);
        CHECK(f.log->count("refuses startAfter") == 1);
    }
    co_await f.source->stop();
}

TEST_CASE("a start at an invalidate's position misses and repeats nothing", "[sources][stream]") {
    stream_fixture f;
    f.run(starts_there(f, true));
}

TEST_CASE("fault 54: a server that refuses startAfter is asked once, then opened by time",
          "[sources][stream][fault-54]") {
    stream_fixture f;
    f.run(starts_there(f, false));
}

static asio::awaitable<void> same_end_again(stream_fixture& f) {
    // Its token says that it is no invalidate's, so resuming behind it gives it again and again.
    const auto second = f.set.add(9, "drop");
    co_await start_at_event(f, second);
    bson::builder b;
    const auto token = fake_set::event_token(second);
    b.document("_id", token).string("operationType", "invalidate");
    f.set.add_raw(second + 1, b.finish());
    received got;
    co_await take_error(*f.source, got);
    REQUIRE(got.error);
    CHECK(got.error->code == error::errc::protocol);
    CHECK(f.set.opened.size() <= 4);
    co_await f.source->stop();
}

TEST_CASE("a stream that ends where it begins is not opened for ever", "[sources][stream]") {
    stream_fixture f;
    f.run(same_end_again(f));
}
