// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/mongodb/streaming/stream_source.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_capture.hpp"
#include "tests/unit/sources/fake_set.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdc::test {

/// A stream_source over a fake_set on one io_context that the test's own thread runs.
struct stream_fixture {
    boost::asio::io_context context;
    fake_set set{context.get_executor()};
    std::shared_ptr<log_capture> log = log_capture::make();
    mongodb::streaming::stream_settings settings;
    mongodb::filter_lists lists;
    std::unique_ptr<mongodb::streaming::stream_source> source;

    stream_fixture() {
        settings.backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(4)};
        settings.batch_size = 2;
    }

    void make() {
        source = std::make_unique<mongodb::streaming::stream_source>(
            context.get_executor(), std::make_unique<fake_runner>(context.get_executor(), set),
            settings, mongodb::filters::compile(lists).value(), log::logger(log, "source"));
    }

    /// Runs `body` to its end; a hang is a failure.
    void run(boost::asio::awaitable<void> body) {
        std::exception_ptr escaped;
        bool done = false;
        boost::asio::co_spawn(context, std::move(body), [&](std::exception_ptr e) {
            escaped = e;
            done = true;
        });
        context.run_for(std::chrono::seconds(30));
        if (escaped)
            std::rethrow_exception(escaped);
        std::string calls;
        for (const auto& call : set.calls)
            calls += call + " ";
        INFO(calls);
        REQUIRE(done);
        CHECK(log->count("exception") == 0);
    }
};

/// What came out of a source.
struct received {
    std::vector<std::int32_t> ids;
    std::vector<std::string> tokens;
    std::vector<event::position> ends;
    std::optional<error::diagnostics> error;
};

inline event::position at_event(std::uint32_t second) {
    const auto t = fake_set::event_token(second);
    return {t, {second, 1}};
}

inline event::position at_high_water(std::uint32_t second) {
    const auto t = fake_set::high_water_token(second);
    return {t, {second, 2}};
}

/// Takes what the next batch has; checks what holds for every batch.
inline boost::asio::awaitable<bool> take(mongodb::streaming::stream_source& from, received& into) {
    auto batch = co_await from.next_batch();
    if (!batch) {
        into.error = batch.error();
        co_return false;
    }
    CHECK((*batch)->bytes() > 0);
    for (const auto& e : (*batch)->events()) {
        const auto data = bson::find(e.resume_token, "_data")->as_string();
        if (!into.tokens.empty())
            CHECK(into.tokens.back() < data);
        if (!into.ends.empty())
            CHECK(into.ends.back().data() < data);
        into.tokens.emplace_back(data);
        into.ids.push_back(e.id->as_int32());
    }
    if ((*batch)->end()) {
        if (!into.tokens.empty())
            CHECK((*batch)->end()->data() >= into.tokens.back());
        if (!into.ends.empty())
            CHECK(into.ends.back() < *(*batch)->end());
        into.ends.push_back((*batch)->end()->clone());
    } else {
        CHECK_FALSE((*batch)->events().empty());
    }
    co_return true;
}

inline boost::asio::awaitable<void> take_one(mongodb::streaming::stream_source& from,
                                             received& into) {
    const bool came = co_await take(from, into);
    REQUIRE(came);
}

inline boost::asio::awaitable<void> take_error(mongodb::streaming::stream_source& from,
                                               received& into) {
    const bool came = co_await take(from, into);
    REQUIRE_FALSE(came);
}

/// Makes the source and starts it.
inline boost::asio::awaitable<void> start_at(stream_fixture& f, event::position from) {
    f.make();
    const auto started = co_await f.source->start(std::move(from));
    REQUIRE(started);
}
inline boost::asio::awaitable<void> start_at_event(stream_fixture& f, std::uint32_t second) {
    auto from = at_event(second);
    co_await start_at(f, std::move(from));
}
inline boost::asio::awaitable<void> start_at_high_water(stream_fixture& f, std::uint32_t second) {
    auto from = at_high_water(second);
    co_await start_at(f, std::move(from));
}
inline boost::asio::awaitable<void> start_now(stream_fixture& f) {
    event::position nowhere;
    co_await start_at(f, std::move(nowhere));
}

/// Batches until `events` events have come or an error did.
inline boost::asio::awaitable<void> take_events(mongodb::streaming::stream_source& from,
                                                received& into, std::size_t events) {
    while (into.ids.size() < events) {
        const bool came = co_await take(from, into);
        if (!came)
            break;
    }
}

/// Lets everything else on the context run until `condition` holds.
template <class F>
boost::asio::awaitable<void> until(boost::asio::io_context& context, F condition) {
    while (!condition())
        co_await boost::asio::post(context, boost::asio::use_awaitable);
}

/// The waiting getMore answers that nothing happened.
inline boost::asio::awaitable<void> idle(stream_fixture& f) {
    co_await until(f.context, [&f] { return f.set.waiting; });
    const auto before = f.set.calls.size();
    f.set.idle();
    co_await until(f.context, [&f, before] { return f.set.calls.size() > before; });
}

inline std::vector<std::int32_t> numbers(std::int32_t count) {
    std::vector<std::int32_t> out;
    for (std::int32_t i = 0; i < count; ++i)
        out.push_back(i);
    return out;
}

inline error::diagnostics server_says(int code, std::vector<std::string> labels = {}) {
    error::diagnostics d;
    d.code = error::errc::server;
    d.server_code = code;
    d.labels = std::move(labels);
    return d;
}

} // namespace cdc::test
