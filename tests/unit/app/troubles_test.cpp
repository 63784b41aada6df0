// SPDX-License-Identifier: Apache-2.0
#include "core/app/troubles.hpp"
#include "tests/support/catch.hpp"

using namespace cdc;
using namespace std::chrono_literals;

TEST_CASE("what keeps a connector from its work is told, and nothing else", "[app]") {
    const auto now = std::chrono::system_clock::now();
    pipeline::pipeline_status s;
    s.connector = "shop";
    s.state = pipeline::connector_state::running;
    s.sinks.resize(2);
    s.sinks[0].name = "file";
    s.sinks[1].name = "hook";
    CHECK(app::troubles_of(s, now).empty());

    s.source.state = {source::activity::reconnecting, now - 75s, 4, "connection refused"};
    s.sinks[1].state = {sink::activity::retrying, 3, "answered 503 Service Unavailable"};
    const std::vector<std::string> told = {
        "shop: has not been able to read for 75 s, 4 failed attempts: connection refused",
        "shop.hook: has not been able to deliver, 3 failed attempts: answered 503 Service "
        "Unavailable"};
    CHECK(app::troubles_of(s, now) == told);
    s.state = pipeline::connector_state::starting;
    CHECK(app::troubles_of(s, now) == told);

    // A clock that was set back makes no negative time.
    CHECK(app::troubles_of(s, now - 2h).front().find(" for 0 s,") != std::string::npos);

    // Why it failed is told elsewhere.
    s.state = pipeline::connector_state::failed;
    CHECK(app::troubles_of(s, now).empty());
    s.state = pipeline::connector_state::stopped;
    s.ended = true;
    CHECK(app::troubles_of(s, now).empty());
}
