// SPDX-License-Identifier: Apache-2.0
// Who may read what: credentials and rights, as the change stream source sees them.
#include "sources/mongodb/modes/connector.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/standin/replica_set.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>

using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using mongodb::streaming::stream_source;

namespace {

/// The position that may be stored behind `id`.
asio::awaitable<event::position> read_to(stream_source& from, std::int32_t id) {
    for (;;) {
        auto batch = co_await from.next_batch();
        if (!batch)
            co_return event::position{};
        for (const auto& e : (*batch)->events())
            if (e.id->as_int32() == id && (*batch)->end())
                co_return (*batch)->end()->clone();
    }
}

struct access_test : driver_fixture {
    standin::replica_set set;
    mongodb::connector_options options;

    access_test()
        : set([] {
            standin::replica_set_options o;
            o.users = {{"reader", "right", {"read@shop"}}, {"nobody", "right", {}}};
            return o;
        }()) {
        options.connection_string = set.uri();
        options.capture_mode = mongodb::capture_mode::change_streams;
        options.capture_scope = mongodb::capture_scope::database;
        options.target_db = "shop";
        options.max_await_time = 100ms;
        options.server_selection_timeout = 20000ms;
    }
    void as(std::string user, std::string password) {
        options.user = std::move(user);
        options.password = std::move(password);
    }
    std::unique_ptr<stream_source> make() {
        auto made =
            mongodb::modes::make_connector_source(options, reactor.executor(), blocking, logger);
        REQUIRE(made);
        return std::move(*made);
    }
    /// What a start is refused with, well before the server selection's time is over.
    error::diagnostics refusal() {
        const auto begin = std::chrono::steady_clock::now();
        auto source = make();
        const auto started = await_on(reactor, source->start({}));
        await_on(reactor, source->stop());
        CHECK(std::chrono::steady_clock::now() - begin < options.server_selection_timeout);
        REQUIRE(!started);
        return started.error();
    }
    void insert(std::int32_t id) {
        const auto reply = set.run_json(
            "shop", fmt::format(R"({{"insert": "orders", "documents": [{{"_id": {}}}]}})", id));
        REQUIRE(bson::find(reply, "ok")->truthy());
    }
};

} // namespace

TEST_CASE("fault 162: missing or wrong credentials and missing rights fail with the reason",
          "[stream][standin][fault-162]") {
    access_test t;
    t.as("reader", "wrong");
    auto d = t.refusal();
    CHECK(d.code == error::errc::authentication);
    CHECK(d.text.find("check mongodb.user, mongodb.password") != std::string::npos);

    t.as("reader", "right");
    t.options.target_db = "payroll";
    d = t.refusal();
    CHECK(d.server_code == 13);
    CHECK(d.text.find("lacks the rights changeStream and find on database payroll") !=
          std::string::npos);

    t.as("nobody", "right");
    t.options.target_db = "shop";
    CHECK(t.refusal().text.find("on database shop") != std::string::npos);

    t.as("", "");
    d = t.refusal();
    CHECK(d.server_code == 13);
    CHECK(d.text.find("on database shop") != std::string::npos);
    CHECK(t.usleeps() == 0);
}

TEST_CASE("fault 163: rights on one database are enough for it, also when going on",
          "[stream][standin][fault-163]") {
    access_test t;
    t.as("reader", "right");
    event::position from;
    for (std::int32_t id = 0; id < 3; ++id) {
        auto source = t.make();
        REQUIRE(await_on(t.reactor, source->start(from.clone())));
        t.insert(id);
        from = await_on(t.reactor, read_to(*source, id));
        CHECK_FALSE(from.empty());
        await_on(t.reactor, source->stop());
    }
    const auto commands = t.set.counts().commands;
    for (const auto* needless : {"listDatabases", "listCollections", "collStats", "serverStatus"})
        CHECK(commands.count(needless) == 0);
    CHECK(t.set.open_cursors() == 0);
    CHECK(t.usleeps() == 0);
}
