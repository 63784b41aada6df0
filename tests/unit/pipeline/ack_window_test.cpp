// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/pipeline/ack_window.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/pipeline/positions.hpp"

#include <random>
#include <set>

using cdc::pipeline::ack_window;
using cdc::test::place;
using cdc::test::place_number;

namespace {

std::shared_ptr<const ack_window::marks> marks(std::vector<std::pair<std::uint64_t, int>> list) {
    auto out = std::make_shared<ack_window::marks>();
    for (const auto& [sequence, number] : list)
        out->push_back({sequence, place(number)});
    return out;
}

int safe(const ack_window& w) {
    return w.safe() ? place_number(*w.safe()) : 0;
}

/// What the window must answer, the slow and obvious way.
struct naive {
    std::set<std::uint64_t> done;
    std::vector<std::pair<std::uint64_t, int>> all;
    std::uint64_t last = 0;

    std::uint64_t through() const {
        std::uint64_t n = 0;
        while (done.count(n + 1))
            ++n;
        return n;
    }
    int safe(int start) const {
        const auto upto = through();
        for (const auto& [sequence, number] : all)
            if (sequence <= upto)
                start = std::max(start, number);
        return start;
    }
};

} // namespace

TEST_CASE("ack_window: the first gap decides", "[pipeline][ack_window]") {
    ack_window w{cdc::event::position{}};
    CHECK(w.safe() == nullptr);
    w.extend(4, marks({{1, 10}, {3, 30}, {4, 40}}));
    CHECK(w.pending() == 4);
    CHECK(w.acknowledge(2, 4));
    CHECK(w.safe() == nullptr);
    CHECK(w.acknowledged_through() == 0);
    CHECK(w.pending() == 1);
    CHECK(w.acknowledge(1, 1));
    CHECK(safe(w) == 40);
    CHECK(w.acknowledged_through() == 4);
    CHECK(w.held() == 0);
}

TEST_CASE("ack_window: an event of two records is safe with its second", "[pipeline][ack_window]") {
    ack_window w{cdc::event::position{}};
    w.extend(2, marks({{2, 7}}));
    CHECK(w.acknowledge(1, 1));
    CHECK(w.safe() == nullptr);
    CHECK(w.acknowledge(2, 2));
    CHECK(safe(w) == 7);
}

TEST_CASE("ack_window: marks without records wait for what is before them",
          "[pipeline][ack_window]") {
    ack_window w{cdc::event::position{}};
    w.extend(0, marks({{0, 1}}));
    CHECK(safe(w) == 1);
    w.extend(2, marks({{1, 2}, {2, 3}, {2, 4}}));
    w.extend(2, marks({{2, 5}}));
    CHECK(safe(w) == 1);
    CHECK(w.acknowledge(1, 1));
    CHECK(safe(w) == 2);
    CHECK(w.acknowledge(2, 2));
    CHECK(safe(w) == 5);
    w.extend(2, marks({{2, 6}}));
    CHECK(safe(w) == 6);
}

TEST_CASE("ack_window: positions never go behind the start or back", "[pipeline][ack_window]") {
    ack_window w{place(50)};
    CHECK(safe(w) == 50);
    w.extend(3, marks({{1, 40}, {2, 50}, {3, 60}}));
    CHECK(w.acknowledge(1, 2));
    CHECK(safe(w) == 50);
    CHECK(w.acknowledge(3, 3));
    CHECK(safe(w) == 60);
    w.extend(3, marks({{3, 55}}));
    CHECK(safe(w) == 60);
}

TEST_CASE("ack_window: impossible acknowledgements are refused", "[pipeline][ack_window]") {
    ack_window w{cdc::event::position{}};
    w.extend(10, marks({{10, 1}}));
    CHECK_FALSE(w.acknowledge(0, 1));
    CHECK_FALSE(w.acknowledge(3, 2));
    CHECK_FALSE(w.acknowledge(10, 11));
    CHECK(w.acknowledge(4, 6));
    CHECK_FALSE(w.acknowledge(6, 7));
    CHECK_FALSE(w.acknowledge(3, 4));
    CHECK_FALSE(w.acknowledge(5, 5));
    CHECK_FALSE(w.acknowledge(3, 7));
    CHECK(w.acknowledge(1, 3));
    CHECK_FALSE(w.acknowledge(1, 1));
    CHECK_FALSE(w.acknowledge(6, 6));
    CHECK(w.acknowledged() == 6);
    CHECK(w.acknowledge(7, 10));
    CHECK(safe(w) == 1);
}

TEST_CASE("ack_window: memory stays bounded while a sink stands still", "[pipeline][ack_window]") {
    ack_window w{cdc::event::position{}};
    w.extend(3, marks({{1, 1}, {2, 2}, {3, 3}}));
    for (int i = 4; i < 10000; ++i)
        w.extend(3, marks({{3, i}}));
    CHECK(w.held() <= 4);
    CHECK(w.acknowledge(1, 3));
    CHECK(safe(w) == 9999);
    // One gap in front of very many single acknowledgements.
    w.extend(10003, marks({{10003, 20000}}));
    for (std::uint64_t i = 5; i <= 10003; ++i)
        REQUIRE(w.acknowledge(i, i));
    CHECK(w.held() <= 2);
    CHECK(w.acknowledge(4, 4));
    CHECK(safe(w) == 20000);
}

TEST_CASE("ack_window: equals a naive model for random orders", "[pipeline][ack_window]") {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
        const int start = below(3) == 0 ? static_cast<int>(below(60)) + 1 : 0;
        ack_window w{start == 0 ? cdc::event::position{} : place(start)};
        naive model;
        int number = 0;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> open; // ranges to acknowledge
        for (int step = 0; step < 120; ++step) {
            if (below(2) == 0 || open.empty()) {
                std::vector<std::pair<std::uint64_t, int>> list;
                std::uint64_t sequence = model.last;
                const unsigned events = below(5);
                for (unsigned i = 0; i < events; ++i) {
                    const std::uint64_t before = sequence;
                    sequence += below(3); // none, data, data and tombstone
                    if (sequence > before)
                        open.emplace_back(before + 1, sequence);
                    list.emplace_back(sequence, ++number);
                }
                if (below(3) == 0)
                    list.emplace_back(sequence, ++number);
                model.last = sequence;
                for (const auto& m : list)
                    model.all.push_back(m);
                w.extend(sequence, marks(list));
            } else {
                const std::size_t at = below(static_cast<unsigned>(open.size()));
                auto [first, last] = open[at];
                open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
                if (last > first && below(2) == 0) {
                    open.emplace_back(last, last);
                    --last;
                }
                REQUIRE(w.acknowledge(first, last));
                for (auto s = first; s <= last; ++s)
                    model.done.insert(s);
                REQUIRE_FALSE(w.acknowledge(last, last));
            }
            REQUIRE(w.acknowledged_through() == model.through());
            REQUIRE(w.pending() == model.last - model.done.size());
            REQUIRE(safe(w) == model.safe(start));
        }
    }
}
