// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/retry_policy.hpp"
#include "tests/support/catch.hpp"

#include <set>

using cdc::pipeline::retry_policy;
using std::chrono::milliseconds;

TEST_CASE("retry_policy grows, keeps its bounds and starts again", "[pipeline][retry_policy]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        retry_policy policy({}, seed);
        milliseconds longest{1000};
        for (unsigned i = 1; i <= 200; ++i) {
            const auto wait = policy.next();
            REQUIRE(policy.attempts() == i);
            REQUIRE(wait >= milliseconds{500});
            REQUIRE(wait >= longest / 2);
            REQUIRE(wait <= longest);
            REQUIRE(wait <= milliseconds{30000});
            longest = std::min(longest * 2, milliseconds{30000});
        }
        policy.reset();
        REQUIRE(policy.attempts() == 0);
        REQUIRE(policy.next() <= milliseconds{1000});
    }
}

TEST_CASE("retry_policy spreads waits and repeats for a seed", "[pipeline][retry_policy]") {
    std::set<milliseconds::rep> seen;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        retry_policy one({}, seed), two({}, seed);
        const auto wait = one.next();
        REQUIRE(wait == two.next());
        seen.insert(wait.count());
    }
    CHECK(seen.size() > 20);
}

TEST_CASE("retry_policy takes strange limits", "[pipeline][retry_policy]") {
    retry_policy below({milliseconds{500}, milliseconds{10}}, 1);
    CHECK(below.next() == milliseconds{500});
    CHECK(below.next() == milliseconds{500});
    retry_policy zero({milliseconds{0}, milliseconds{0}}, 1);
    CHECK(zero.next() == milliseconds{1});
    retry_policy odd({milliseconds{300}, milliseconds{1000}}, 1);
    for (int i = 0; i < 20; ++i) {
        const auto wait = odd.next();
        CHECK(wait >= milliseconds{300});
        CHECK(wait <= milliseconds{1000});
    }
}
