// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/oplog_headroom.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using cdc::mongodb::streaming::oplog_headroom;
using news = oplog_headroom::news;
using clock_type = oplog_headroom::clock;

TEST_CASE("the headroom is warned about once for each time that it falls below the threshold",
          "[sources][headroom]") {
    oplog_headroom h({10min, 60s});
    const clock_type::time_point begin{1h};
    CHECK(h.next_look() <= begin);
    CHECK_FALSE(h.value());
    CHECK(h.on_oldest({{1000, 1}}, {2000, 5}, begin) == news::first);
    CHECK(*h.value() == 1000s);
    CHECK(h.next_look() == begin + 60s);
    CHECK(h.on_oldest({{1400, 1}}, {2000, 5}, begin) == news::none); // exactly the threshold
    CHECK(h.on_oldest({{1401, 1}}, {2000, 5}, begin) == news::low);
    CHECK(h.on_oldest({{1500, 1}}, {2000, 5}, begin) == news::none);
    CHECK(h.on_oldest({{3000, 1}}, {2000, 5}, begin) == news::none);
    CHECK(*h.value() == 0s); // gone already
    CHECK(h.on_oldest({{3000, 1}}, {9000, 1}, begin) == news::enough);
    CHECK(h.on_oldest({{9000, 1}}, {9000, 1}, begin) == news::low);
}

TEST_CASE("an oplog from which nothing has left is never low", "[sources][headroom]") {
    oplog_headroom h({10min, 60s});
    CHECK(h.on_oldest({{1000, 1}, true}, {1001, 1}, {}) == news::first);
    CHECK(*h.value() == 1s);
    CHECK(h.on_oldest({{1001, 1}, false}, {1002, 1}, {}) == news::low);
}

TEST_CASE("without a threshold nothing is low, and the value is there all the same",
          "[sources][headroom]") {
    oplog_headroom h({0ms, 60s});
    CHECK(h.on_oldest({{1000, 1}}, {1000, 1}, {}) == news::first);
    CHECK(*h.value() == 0s);
    CHECK(h.on_oldest({{1000, 1}}, {1000, 1}, {}) == news::none);
}

TEST_CASE("who may not read the oplog is asked again only over a new connection",
          "[sources][headroom]") {
    oplog_headroom h({10min, 60s});
    const clock_type::time_point begin{1h};
    h.on_oldest({{1000, 1}}, {2000, 5}, begin);
    h.on_refused(begin + 60s);
    CHECK_FALSE(h.value());
    CHECK(h.next_look() == clock_type::time_point::max());
    h.on_connected();
    CHECK(h.next_look() == begin + 120s); // still at most once an interval
    h.on_failed(begin + 120s);
    CHECK(h.next_look() == begin + 180s);
}
