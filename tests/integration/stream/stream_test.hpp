// SPDX-License-Identifier: Apache-2.0
// What the tests of the change stream source against the stand-in share.
#pragma once

#include "core/event/control_record.hpp"
#include "sources/mongodb/modes/connector.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/lateness.hpp"
#include "tests/support/standin/replica_set.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdc::test {

/// What came, as text: "insert shop.orders 7", "rename shop.a to shop.b".
struct arrived {
    std::vector<std::string> events;
    std::vector<bool> has_after;
    event::position last; ///< the last that may be stored
    std::optional<error::diagnostics> error;
};

inline boost::asio::awaitable<bool> next(mongodb::streaming::stream_source& from, arrived& into) {
    auto batch = co_await from.next_batch();
    if (!batch) {
        into.error = batch.error();
        co_return false;
    }
    for (const auto& e : (*batch)->events()) {
        std::string id = e.id ? fmt::format(" {}", e.id->as_int32()) : std::string();
        if (e.control && e.control->to)
            id = fmt::format(" to {}.{}", e.control->to->db, *e.control->to->collection);
        into.events.push_back(fmt::format("{} {}.{}{}", e.operation_type, e.db, e.collection, id));
        into.has_after.push_back(e.after.has_value());
        into.last = event::position(e.resume_token, e.cluster_time);
    }
    if ((*batch)->end())
        into.last = (*batch)->end()->clone();
    co_return true;
}

inline boost::asio::awaitable<void> events(mongodb::streaming::stream_source& from, arrived& into,
                                           std::size_t count) {
    while (into.events.size() < count) {
        const bool came = co_await next(from, into);
        if (!came)
            break;
    }
}

struct stream_test : driver_fixture {
    std::optional<standin::replica_set> set;
    mongodb::connector_options options;
    std::unique_ptr<mongodb::streaming::stream_source> source;
    std::size_t most_late = 3; ///< times that the reactor may have been held up, up to this one
    lateness late{{&reactor}};

    explicit stream_test(standin::replica_set_options set_options = {}) {
        set.emplace(std::move(set_options));
        options.connection_string = set->uri();
        options.max_await_time = std::chrono::milliseconds(100);
        options.socket_timeout = std::chrono::milliseconds(5000);
        options.server_selection_timeout = std::chrono::milliseconds(3000);
        options.capture_mode = mongodb::capture_mode::change_streams;
    }
    ~stream_test() {
        stop();
        CHECK(late.stop("stream from the stand-in") < most_late);
        CHECK(usleeps() == 0);
    }

    error::result<void> start(event::position from = {}) {
        stop();
        auto made =
            mongodb::modes::make_connector_source(options, reactor.executor(), blocking, logger);
        REQUIRE(made);
        source = std::move(*made);
        return await_on(reactor, source->start(std::move(from)));
    }
    void stop() {
        if (source)
            await_on(reactor, source->stop());
        source.reset();
    }
    void take(arrived& into, std::size_t count) { await_on(reactor, events(*source, into, count)); }
    bool take_batch(arrived& into) { return await_on(reactor, next(*source, into)); }

    void run(const std::string& db, const std::string& command) {
        const auto reply = set->run_json(db, command);
        INFO(command);
        REQUIRE(bson::find(reply, "ok")->truthy());
    }
    void insert(const std::string& db, const std::string& collection, int id) {
        run(db, fmt::format(R"({{"insert": "{}", "documents": [{{"_id": {}, "v": 1}}]}})",
                            collection, id));
    }
};

} // namespace cdc::test
