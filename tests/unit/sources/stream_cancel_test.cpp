// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sources/stream_fixture.hpp"

#include <chrono>

using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

asio::awaitable<void> start_pending(stream_fixture& f, event::position from,
                                    std::optional<error::result<void>>& out) {
    out = co_await f.source->start(std::move(from));
}

asio::awaitable<void> next_pending(stream_fixture& f, received& out) {
    for (;;) {
        const bool came = co_await take(*f.source, out);
        if (!came)
            co_return;
    }
}

void detached(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

/// Cancels, awaits `stop`, and checks that both were quick.
template <class F>
asio::awaitable<void> cancel_and_stop(stream_fixture& f, F pending_ended) {
    const auto begin = std::chrono::steady_clock::now();
    f.source->cancel();
    co_await until(f.context, pending_ended);
    CHECK(std::chrono::steady_clock::now() - begin < 500ms);
    co_await f.source->stop();
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
    received after;
    co_await take_error(*f.source, after);
    CHECK(after.error->code == error::errc::cancelled);
}

asio::awaitable<void> cancel_start(stream_fixture& f, std::string hanging) {
    f.set.faults.push_back({hanging, 0, 1, {}, true});
    f.make();
    std::optional<error::result<void>> started;
    asio::co_spawn(f.context, start_pending(f, at_event(1000), started), detached);
    co_await until(f.context, [&] { return f.set.count(hanging) == 1; });
    co_await cancel_and_stop(f, [&] { return started.has_value(); });
    REQUIRE_FALSE(*started);
    CHECK(started->error().code == error::errc::cancelled);
}

template <class F>
asio::awaitable<void> cancel_reading(stream_fixture& f, event::position from, F when,
                                     std::size_t cursors_left) {
    co_await start_at(f, std::move(from));
    received got;
    asio::co_spawn(f.context, next_pending(f, got), detached);
    co_await until(f.context, when);
    co_await cancel_and_stop(f, [&] { return got.error.has_value(); });
    CHECK(got.error->code == error::errc::cancelled);
    CHECK(f.set.open_cursors() == cursors_left);
}

asio::awaitable<void> cancel_with_a_waiting_reply(stream_fixture& f) {
    for (int i = 0; i < 9; ++i)
        f.set.add(i);
    co_await start_at_event(f, 1001);
    auto held = co_await f.source->next_batch();
    REQUIRE(held);
    co_await until(f.context, [&] { return f.set.count("getMore") == 2; });
    f.source->cancel();
    received after;
    co_await take_error(*f.source, after);
    CHECK(after.error->code == error::errc::cancelled);
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
    CHECK((*held)->events().size() == 2); // what was handed out stays whole
}

asio::awaitable<void> stop_without_start(stream_fixture& f) {
    f.make();
    co_await f.source->stop();
    event::position nowhere;
    const auto started = co_await f.source->start(std::move(nowhere));
    REQUIRE_FALSE(started);
    CHECK(started.error().code == error::errc::cancelled);
}

} // namespace

TEST_CASE("cancel ends a start in every phase", "[sources][stream][cancel]") {
    for (const auto* command : {"connect", "buildInfo", "aggregate"}) {
        INFO(command);
        stream_fixture f;
        f.run(cancel_start(f, command));
    }
}

TEST_CASE("cancel while a getMore waits closes the cursor when it can",
          "[sources][stream][cancel]") {
    stream_fixture f;
    // Cut off after the grace: nothing happens on the set.
    f.run(cancel_reading(f, at_high_water(1000), [&] { return f.set.waiting; }, 1));
}

namespace {

asio::awaitable<void> cancel_graceful(stream_fixture& f) {
    co_await start_at_high_water(f, 1000);
    received got;
    asio::co_spawn(f.context, next_pending(f, got), detached);
    co_await until(f.context, [&] { return f.set.waiting; });
    f.source->cancel();
    f.set.idle(); // the server's own waiting time is over
    co_await f.source->stop();
    CHECK(got.error->code == error::errc::cancelled);
    CHECK(f.set.count("killCursors") == 1);
    CHECK(f.set.open_cursors() == 0);
}

} // namespace

TEST_CASE("a getMore that ends within the grace leaves no cursor behind",
          "[sources][stream][cancel]") {
    stream_fixture f;
    f.run(cancel_graceful(f));
}

TEST_CASE("cancel during a probe", "[sources][stream][cancel]") {
    stream_fixture f;
    f.set.add(0);
    f.set.write_elsewhere(5);
    f.set.faults.push_back({"getMore", 1, 1, {}, true});
    f.run(cancel_reading(f, at_event(1001), [&] { return f.set.count("getMore") == 2; }, 2));
}

TEST_CASE("cancel during a pause between attempts", "[sources][stream][cancel]") {
    stream_fixture f;
    f.settings.backoff = {1h, 1h};
    f.set.faults.push_back({"getMore", 0, 1, error::fail(error::errc::network, "reset")});
    f.run(cancel_reading(
        f, at_high_water(1000), [&] { return f.log->count("to go on follows") == 1; }, 1));
}

TEST_CASE("cancel while a reply waits to be taken", "[sources][stream][cancel]") {
    stream_fixture f;
    f.run(cancel_with_a_waiting_reply(f));
}

TEST_CASE("a source that never started can be stopped", "[sources][stream][cancel]") {
    stream_fixture f;
    f.run(stop_without_start(f));
}
