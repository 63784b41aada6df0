// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/modes/connector_check.hpp"
#include "tests/unit/sources/stream_fixture.hpp"

#include <boost/asio/detached.hpp>

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;
using mongodb::modes::connector_check;

namespace {

/// A check of shop.orders over a fake set.
struct check_fixture : stream_fixture {
    std::unique_ptr<connector_check> check;

    explicit check_fixture(mongodb::capture_scope scope = mongodb::capture_scope::deployment) {
        mongodb::cursor::stream_target target;
        target.scope = scope;
        target.db = "shop";
        target.collection = "orders";
        check = std::make_unique<connector_check>(
            std::make_unique<fake_runner>(context.get_executor(), set), std::move(target),
            mongodb::filters::compile({}).value());
    }
};

error::diagnostics unauthorized() {
    auto d = error::fail(error::errc::server, "the server refused the command");
    d.server_code = 13;
    return d;
}

} // namespace

/// What the time limit of a read does with a real server.
static asio::awaitable<void> end_waiting(check_fixture& f) {
    while (!f.set.waiting)
        co_await asio::post(f.context, asio::use_awaitable);
    f.set.idle();
}

static asio::awaitable<void> all_is_well(check_fixture& f) {
    f.set.add(1);
    f.set.write_elsewhere(5);
    const auto connected = co_await f.check->connect();
    CHECK(connected.has_value());
    CHECK(f.check->server().set_name == "rs0");
    const auto version = co_await f.check->version();
    CHECK(version.has_value());
    asio::co_spawn(f.context, end_waiting(f), asio::detached);
    const auto read = co_await f.check->read_changes();
    CHECK(read.has_value());
    const auto oplog = co_await f.check->oplog();
    REQUIRE(oplog.has_value());
    CHECK(oplog->oldest.t <= oplog->newest.t);
    co_await f.check->stop();
    CHECK(f.set.open_cursors() == 0);
}

TEST_CASE("a check asks everything once and leaves no cursor", "[sources][check]") {
    check_fixture f;
    f.run(all_is_well(f));
    CHECK(f.set.count("connect") == 1);
    CHECK(f.set.count("aggregate") == 1);
    CHECK(f.set.count("killCursors") == 1);
}

static asio::awaitable<void> finds(check_fixture& f, event::position at, bool there) {
    const auto connected = co_await f.check->connect();
    CHECK(connected.has_value());
    auto from = std::move(at);
    const auto found = co_await f.check->find_position(std::move(from));
    CHECK(found.has_value() == there);
    if (!found) {
        CHECK(found.error().code == error::errc::position_lost);
    }
    co_await f.check->stop();
    CHECK(f.set.open_cursors() == 0);
}

TEST_CASE("a position is looked for", "[sources][check]") {
    const bool lost = GENERATE(false, true);
    const bool of_event = GENERATE(false, true);
    const bool event_behind = GENERATE(false, true);
    CAPTURE(lost, of_event, event_behind);
    check_fixture f;
    const auto second = f.set.add(1);
    f.set.write_elsewhere(50);
    if (event_behind)
        f.set.add(2);
    if (lost)
        f.set.truncate_before(second + 20);
    f.run(finds(f, of_event ? at_event(second) : at_high_water(second), !lost));
}

static asio::awaitable<void> lacks_rights(check_fixture& f, std::string on) {
    const auto connected = co_await f.check->connect();
    CHECK(connected.has_value());
    const auto read = co_await f.check->read_changes();
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().server_code == 13);
    CHECK(read.error().text.find("changeStream and find on " + on) != std::string::npos);
    co_await f.check->stop();
}

TEST_CASE("missing rights are named with what they are on", "[sources][check]") {
    using mongodb::capture_scope;
    for (const auto& [scope, on] :
         {std::pair{capture_scope::deployment, "every database"},
          std::pair{capture_scope::database, "database shop"},
          std::pair{capture_scope::collection, "collection shop.orders"}}) {
        check_fixture f(scope);
        f.set.faults.push_back({.command = "aggregate", .error = unauthorized()});
        f.run(lacks_rights(f, on));
    }
}

static asio::awaitable<void> is_no_set(check_fixture& f) {
    const auto connected = co_await f.check->connect();
    CHECK(connected.has_value());
    const auto version = co_await f.check->version();
    REQUIRE_FALSE(version.has_value());
    CHECK(version.error().code == error::errc::unsupported);
    co_await f.check->stop();
}

TEST_CASE("what is no replica set is refused before it is asked more", "[sources][check]") {
    check_fixture f;
    f.set.set_name.clear();
    f.set.server_type = GENERATE("Standalone", "Mongos");
    f.run(is_no_set(f));
    CHECK(f.set.calls == std::vector<std::string>{"connect"});
}
