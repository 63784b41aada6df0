// SPDX-License-Identifier: Apache-2.0
// The connection is cut at every boundary between messages, and within every message, while 1,000
// changes are read.
#include "sources/mongodb/modes/connector.hpp"
#include "tests/integration/cuts/cut_stage.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;
using mongodb::streaming::stream_source;

namespace {

constexpr std::size_t stages_at_a_time = 32;

/// What one stream has given.
struct arrived {
    std::vector<std::string> events;
    event::position last;
    std::string error;
};

std::string version_of(const event::change_event& e) {
    if (e.after)
        return fmt::format(" {}", *bson::find(*e.after, "v")->as_integer());
    if (e.update)
        return fmt::format(" {}", *bson::find(e.update->updated_fields, "v")->as_integer());
    return {};
}

asio::awaitable<bool> take_batch(stream_source& from, arrived& into) {
    auto batch = co_await from.next_batch();
    if (!batch) {
        into.error = batch.error().describe();
        co_return false;
    }
    for (const auto& e : (*batch)->events()) {
        into.events.push_back(
            fmt::format("{} {}{}", e.operation_type, e.id->as_int32(), version_of(e)));
        into.last = event::position(e.resume_token, e.cluster_time);
    }
    if ((*batch)->end())
        into.last = (*batch)->end()->clone();
    co_return true;
}

asio::awaitable<void> take_events(stream_source& from, arrived& into, std::size_t count) {
    while (into.events.size() < count) {
        const bool came = co_await take_batch(from, into);
        if (!came)
            break;
    }
}

asio::awaitable<void> take_until(stream_source& from, arrived& into, bson::timestamp time) {
    while (into.last.cluster_time() < time) {
        const bool came = co_await take_batch(from, into);
        if (!came)
            break;
    }
}

/// Streams on two reactors.
struct stream_cuts : driver_fixture {
    runtime::reactor second{"test-reactor-2"};
    runtime::blocking_pool lookups{2}; // ends before the reactors it posts to
    std::atomic<std::size_t> made{0};

    /// A stream that is stopped in any case.
    struct open_stream {
        open_stream(stream_cuts& f, const std::string& uri)
            : reactor(f.made++ % 2 == 0 ? f.reactor : f.second) {
            mongodb::connector_options options;
            options.connection_string = uri;
            options.capture_mode = mongodb::capture_mode::change_streams;
            options.max_batch_size = 20;
            options.max_await_time = std::chrono::milliseconds(50);
            options.server_selection_timeout = std::chrono::milliseconds(5000);
            options.socket_timeout = std::chrono::milliseconds(20000);
            auto out = mongodb::modes::make_connector_source(options, reactor.executor(), f.lookups,
                                                             f.logger);
            if (!out)
                throw std::runtime_error(out.error().describe());
            source = std::move(*out);
        }
        ~open_stream() { await_on(reactor, source->stop()); }
        void start(event::position from) {
            const auto started = await_on(reactor, source->start(std::move(from)));
            if (!started)
                throw std::runtime_error("start: " + started.error().describe());
        }
        runtime::reactor& reactor;
        std::unique_ptr<stream_source> source;
    };

    event::position position_now(const std::string& uri) {
        open_stream s(*this, uri);
        s.start({});
        arrived got;
        await_on(s.reactor, take_batch(*s.source, got));
        return got.last.clone();
    }

    /// Reads everything; what was wrong with it.
    std::string read(open_stream& s, cut_stage& stage, arrived& got) {
        s.start(stage.begin().clone());
        await_on(s.reactor, take_events(*s.source, got, cut_stage::changes));
        if (!got.error.empty())
            return got.error;
        return got.events == stage.written() ? "" : difference(got.events, stage.written());
    }

    static std::string difference(const std::vector<std::string>& got,
                                  const std::vector<std::string>& expected) {
        const auto [g, e] = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
        return fmt::format("{} changes for {}; first difference at {}: '{}' for '{}'", got.size(),
                           expected.size(), g - got.begin(), g == got.end() ? "" : *g,
                           e == expected.end() ? "" : *e);
    }

    message_sizes uncut(cut_stage& stage) {
        message_sizes begin, out;
        for (const auto way : {gate::way::to_server, gate::way::to_client})
            begin[static_cast<std::size_t>(way)] = stage.gate.messages(way);
        open_stream s(*this, stage.direct_uri());
        arrived got;
        CHECK(read(s, stage, got).empty());
        for (const auto way : {gate::way::to_server, gate::way::to_client}) {
            const auto at = static_cast<std::size_t>(way);
            out[at] = stage.gate.messages(way);
            out[at].erase(out[at].begin(),
                          out[at].begin() + static_cast<std::ptrdiff_t>(begin[at].size()));
        }
        // A request may be on its way already when the last change arrives, or not yet.
        out[0].resize(out[1].size());
        return out;
    }

    std::string one_cut(cut_stage& stage, const gate::cut& at) {
        const auto before = stage.gate.cuts();
        stage.cut_from_now(at);
        arrived got;
        open_stream s(*this, stage.direct_uri());
        if (auto wrong = read(s, stage, got); !wrong.empty())
            return wrong;
        // The cut may come behind the last change; and in any case the stream goes on.
        int idle = 0;
        do {
            if (++idle > 100)
                return "the point of the cut was not reached";
            stage.set.append_noop();
            await_on(s.reactor, take_until(*s.source, got, stage.set.last_time()));
        } while (stage.gate.cuts() == before && got.error.empty());
        if (!got.error.empty())
            return got.error;
        return got.events.size() == cut_stage::changes ? "" : "changes were repeated";
    }
};

} // namespace

TEST_CASE("fault 53: 1,000 changes with the connection cut at every point, none missing or "
          "repeated",
          "[cuts][fault-53]") {
    stream_cuts f;
    std::vector<std::unique_ptr<cut_stage>> stages;
    for (std::size_t i = 0; i < stages_at_a_time; ++i)
        stages.push_back(std::make_unique<cut_stage>(
            [&f](const std::string& uri) { return f.position_now(uri); }));

    const auto run = f.uncut(*stages.front());
    CHECK(f.uncut(*stages.front()) == run); // what is counted is the same in every run
    CHECK(f.uncut(*stages.back()) == run);
    REQUIRE(run[1].size() > cut_stage::changes / 20);
    const auto cuts = all_cuts(run);
    const auto begin = std::chrono::steady_clock::now();
    const auto failures =
        for_all_cuts(stages, cuts, [&f](cut_stage& stage, const gate::cut& at, std::size_t) {
            return f.one_cut(stage, at);
        });
    std::printf("%zu runs of 1,000 changes in %zu messages each way: %.1f s\n", cuts.size(),
                run[1].size(),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    for (const auto& failure : failures)
        FAIL_CHECK(failure);
    CHECK(f.usleeps() == 0);
}
