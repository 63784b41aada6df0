// SPDX-License-Identifier: Apache-2.0
// What a stream says about how it fares.
#include "tests/unit/sources/stream_fixture.hpp"

#include <algorithm>

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;
using cdc::source::activity;

static error::diagnostics gone() {
    auto d = error::fail(error::errc::network, "db1:27017: connection reset");
    d.server_text = "user data";
    return d;
}

static asio::awaitable<void> trouble_then_quiet(stream_fixture& f) {
    const auto begin = std::chrono::system_clock::now();
    co_await start_at_high_water(f, 1000);
    CHECK(f.source->status().state.now == activity::reading);
    f.set.faults.push_back({"connect", 0, 3, gone()});
    f.set.faults.push_back({"getMore", 0, 1, gone()});
    f.set.add(0); // ends the getMore that waits; the next one breaks
    received got;
    co_await take_events(*f.source, got, 1);
    for (unsigned attempt = 1; attempt <= 4; ++attempt) {
        co_await until(f.context, [&] { return f.source->status().state.attempts >= attempt; });
        const auto s = f.source->status().state;
        CHECK(s.now == activity::reconnecting);
        CHECK(s.attempts == attempt);
        CHECK(s.reason == "db1:27017: connection reset");
        CHECK(s.since >= begin);
        CHECK(s.since <= std::chrono::system_clock::now());
    }
    // A getMore that only waits says that all is well: nothing has been read since.
    const auto replies = f.set.count("getMore");
    co_await until(f.context, [&] { return f.set.count("getMore") > replies && f.set.waiting; });
    f.set.idle();
    co_await until(f.context, [&] { return f.source->status().state.now == activity::reading; });
    CHECK(f.source->status().state.attempts == 0);
    CHECK(f.source->status().state.reason.empty());
    CHECK(got.ids.size() == 1);
    CHECK(f.log->count("reads changes again") == 1);
    co_await f.source->stop();
}

TEST_CASE("fault 102: a stream is healthy again once it is open, though no event comes",
          "[sources][stream][fault-102]") {
    stream_fixture f;
    f.run(trouble_then_quiet(f));
}

static asio::awaitable<void> trouble_while_full(stream_fixture& f) {
    for (int i = 0; i < 6; ++i)
        f.set.add(i);
    f.set.faults.push_back({"getMore", 1, 1, gone()});
    co_await start_at_high_water(f, 1000);
    received got;
    co_await take_one(*f.source, got); // the next getMore breaks
    co_await until(f.context,
                   [&] { return f.source->status().state.now == activity::reconnecting; });
    // Nobody takes what is read then, so the source does not ask for more: still it is well.
    co_await until(f.context, [&] { return f.source->status().state.now == activity::reading; });
    co_await take_events(*f.source, got, 6);
    CHECK(got.ids == numbers(6));
    co_await f.source->stop();
}

TEST_CASE("a stream whose reader is slow is not taken for one in trouble", "[sources][stream]") {
    stream_fixture f;
    f.run(trouble_while_full(f));
}

static asio::awaitable<void> three_attempts(stream_fixture& f) {
    f.set.faults.push_back({"getMore", 0, 100, server_says(123456)});
    co_await start_at_high_water(f, 1000);
    received got;
    co_await take_error(*f.source, got);
    CHECK(got.error->text.find("3 attempts at the same position") != std::string::npos);
    CHECK(f.set.count("getMore") == 3);
    CHECK(f.source->status().state.now ==
          activity::reading); // it is over, the connector's state says so
    co_await f.source->stop();
}

static asio::awaitable<void> flapping(stream_fixture& f) {
    // Each time it opens, and then breaks without having given anything.
    f.set.faults.push_back({"getMore", 0, 40, gone()});
    co_await start_at_high_water(f, 1000);
    for (unsigned attempt = 1; attempt <= 40; ++attempt) {
        co_await until(f.context, [&] { return f.source->status().state.attempts >= attempt; });
        CHECK(f.source->status().state.attempts == attempt);
    }
    CHECK(f.set.count("aggregate") >= 40);
    f.set.add(0);
    received got;
    co_await take_events(*f.source, got, 1);
    // Something came: from now on it counts anew.
    f.set.faults.push_back({"getMore", 0, 1, gone()});
    f.set.add(1);
    co_await until(f.context, [&] { return f.source->status().state.attempts > 0; });
    CHECK(f.source->status().state.attempts == 1);
    co_await take_events(*f.source, got, 2);
    CHECK(got.ids == numbers(2));
    co_await f.source->stop();
}

TEST_CASE("fault 171: attempts are counted until something is read, and bounded ones end",
          "[sources][stream][fault-171]") {
    stream_fixture bounded;
    bounded.run(three_attempts(bounded));
    stream_fixture f;
    f.run(flapping(f));
}
