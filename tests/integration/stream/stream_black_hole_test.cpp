// SPDX-License-Identifier: Apache-2.0
// A network that takes everything and gives nothing back.
#include "sources/mongodb/modes/connector.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/standin/replica_set.hpp"
#include "tests/support/tcp_gate.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <vector>

using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using cdc::source::activity;
using mongodb::streaming::stream_source;

namespace {

asio::awaitable<std::vector<int>> take(stream_source& from, std::size_t count) {
    std::vector<int> ids;
    while (ids.size() < count) {
        auto batch = co_await from.next_batch();
        if (!batch)
            break;
        for (const auto& e : (*batch)->events())
            ids.push_back(e.id->as_int32());
    }
    co_return ids;
}

} // namespace

TEST_CASE("fault 106: a black hole is noticed in the configured time, shown, and left behind",
          "[stream][standin][fault-106]") {
    driver_fixture f;
    standin::replica_set set;
    tcp_gate gate(set.port());
    set.advertise(gate.host_port());
    mongodb::connector_options options;
    options.connection_string = "mongodb://" + gate.host_port() + "/?replicaSet=rs0";
    options.max_await_time = 100ms;
    options.socket_timeout = 1000ms;
    options.connect_timeout = 500ms;
    options.server_selection_timeout = 1000ms;
    auto made = mongodb::modes::make_connector_source(options, f.executor(), f.blocking, f.logger);
    REQUIRE(made);
    auto source = std::move(*made);
    const auto status = [&] {
        std::promise<cdc::source::state> out;
        asio::post(f.executor(), [&] { out.set_value(source->status().state); });
        return out.get_future().get();
    };
    const auto insert = [&set](int id) {
        const auto reply = set.run_json("shop", R"({"insert": "c", "documents": [{"_id": )" +
                                                    std::to_string(id) + "}]}");
        REQUIRE(bson::find(reply, "ok")->truthy());
    };

    REQUIRE(await_on(f.reactor, source->start({})));
    insert(1);
    CHECK(await_on(f.reactor, take(*source, 1)) == std::vector<int>{1});
    CHECK(status().now == activity::reading);

    const auto begin = std::chrono::steady_clock::now();
    gate.black_hole();
    insert(2); // nobody hears of it
    REQUIRE(eventually([&] { return status().now == activity::reconnecting; }));
    const auto noticed = std::chrono::steady_clock::now() - begin;
    CHECK(noticed >= 800ms); // a getMore was on its way for a moment already
    CHECK(noticed < 15s);    // by default it would be a minute
    CHECK(status().reason.find("no answer within the socket timeout") != std::string::npos);
    // Shown for as long as it lasts: who connects anew gets into the same hole.
    REQUIRE(eventually([&] { return status().attempts >= 3; }));
    const auto s = status();
    CHECK(s.now == activity::reconnecting);
    CHECK(std::chrono::system_clock::now() - s.since >= 1s);

    gate.pass();
    CHECK(await_on(f.reactor, take(*source, 1)) == std::vector<int>{2});
    CHECK(eventually([&] { return status().now == activity::reading; }));
    CHECK(f.log->count("reads changes again") == 1);
    await_on(f.reactor, source->stop());
    CHECK(f.usleeps() == 0);
}
