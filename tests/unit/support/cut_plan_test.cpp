// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "tests/support/gate/cut_plan.hpp"

#include <algorithm>
#include <string>
#include <vector>

using cdc::test::gate::cut;
using cdc::test::gate::cut_plan;
using cdc::test::gate::way;

namespace {

std::string message(std::size_t size) {
    std::string out(size, 'x');
    for (std::size_t i = 0; i < 4; ++i)
        out[i] = static_cast<char>(size >> (8 * i) & 0xff);
    return out;
}

struct outcome {
    std::size_t passed = 0;
    bool cut = false;
    bool reset = false;
};

/// Gives `all` to the plan in chunks of `chunk` bytes, as a gate does, until the cut.
outcome feed(cut_plan& plan, way w, cut_plan::lane& lane, const std::string& all,
             std::size_t chunk) {
    outcome out;
    for (std::size_t at = 0; at < all.size();) {
        std::span<const char> bytes(all.data() + at, std::min(chunk, all.size() - at));
        at += bytes.size();
        while (!bytes.empty()) {
            const auto v = plan.next(w, lane, bytes);
            out.passed += v.pass;
            if (v.then_cut) {
                out.cut = true;
                out.reset = v.reset;
                return out;
            }
            REQUIRE(v.pass > 0);
            bytes = bytes.subspan(v.pass);
        }
    }
    return out;
}

} // namespace

TEST_CASE("a cut is made at exactly its byte, however the bytes come", "[gate]") {
    const std::vector<std::size_t> sizes = {16, 70, 33};
    const std::string all = message(16) + message(70) + message(33);
    for (const way w : {way::to_server, way::to_client})
        for (const bool each : {false, true})
            for (const std::size_t chunk : {1, 3, 16, 17, 86, 1000}) {
                std::size_t begin = 0;
                for (std::size_t m = 0; m < sizes.size(); ++m) {
                    for (std::size_t bytes = 0; bytes < sizes[m]; ++bytes) {
                        if (m == 0 && bytes == 0)
                            continue; // before anything has come: see below
                        INFO("message " << m << ", byte " << bytes << ", chunks of " << chunk);
                        cut_plan plan;
                        cut_plan::lane lane;
                        plan.set(cut{w, m, bytes, bytes % 2 == 0, each});
                        const auto out = feed(plan, w, lane, all, chunk);
                        CHECK(out.cut);
                        CHECK(out.passed == begin + bytes);
                        CHECK(out.reset == (bytes % 2 == 0));
                        CHECK(plan.cuts() == 1);
                        CHECK(plan.passed(w).size() == m);
                    }
                    begin += sizes[m];
                }
            }
}

TEST_CASE("a cut behind the end of a message is made at its end", "[gate]") {
    cut_plan plan;
    cut_plan::lane lane;
    plan.set(cut{way::to_client, 1, 1000});
    const auto out = feed(plan, way::to_client, lane, message(20) + message(30) + message(40), 7);
    CHECK(out.cut);
    CHECK(out.passed == 50);
}

TEST_CASE("a single cut is made once, counted over all connections; or each has its own",
          "[gate]") {
    const std::string three = message(20) + message(20) + message(20);
    for (const bool each : {false, true}) {
        cut_plan plan;
        plan.set(cut{way::to_server, 4, 0, true, each});
        cut_plan::lane first, second, third;
        CHECK_FALSE(feed(plan, way::to_server, first, three, 100).cut);
        CHECK(feed(plan, way::to_server, second, three, 100).cut == !each);
        CHECK(feed(plan, way::to_server, third, three + three, 100).cut == each);
        CHECK(plan.cuts() == 1);
        CHECK(plan.passed(way::to_client).empty());
    }
}

TEST_CASE("a cut before the first message waits for no byte", "[gate]") {
    for (const bool each : {false, true}) {
        cut_plan plan;
        plan.set(cut{way::to_client, 0, 0, true, each});
        for (int connection = 0; connection < 2; ++connection) {
            cut_plan::lane lane;
            CHECK_FALSE(plan.next(way::to_server, lane, {}).then_cut);
            CHECK(plan.next(way::to_client, lane, {}).then_cut == (each || connection == 0));
        }
    }
}

TEST_CASE("a connection that is already behind the point of every connection is cut", "[gate]") {
    cut_plan plan;
    cut_plan::lane lane;
    const std::string two = message(20) + message(20);
    CHECK_FALSE(feed(plan, way::to_client, lane, two, 100).cut);
    plan.set(cut{way::to_client, 1, 3, true, true});
    const auto out = feed(plan, way::to_client, lane, two, 100);
    CHECK(out.cut);
    CHECK(out.passed == 0);
}

TEST_CASE("a reset after so many bytes counts bytes alone, towards the client", "[gate]") {
    for (const std::size_t bytes : {0, 1, 19, 20, 21, 59}) {
        cut_plan plan;
        cut_plan::lane there, back;
        plan.reset_after(bytes);
        const std::string three = message(20) + message(20) + message(20);
        CHECK_FALSE(feed(plan, way::to_server, there, three, 8).cut);
        const auto out = feed(plan, way::to_client, back, three, 8);
        CHECK(out.cut);
        CHECK(out.reset);
        CHECK(out.passed == bytes);
        CHECK_FALSE(feed(plan, way::to_client, there, three, 8).cut);
    }
}

TEST_CASE("a stream that is not MongoDB's passes uncounted", "[gate]") {
    cut_plan plan;
    cut_plan::lane lane;
    plan.set(cut{way::to_client, 1, 0});
    std::string text = message(20);
    text[0] = 5; // a length below the header's
    CHECK(feed(plan, way::to_client, lane, text + text, 3).passed == 40);
    CHECK(plan.passed(way::to_client).empty());
}
