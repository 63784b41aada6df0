// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/resume_policy.hpp"
#include "tests/support/catch.hpp"

#include <set>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using cdc::error::diagnostics;
using cdc::error::errc;
using cdc::mongodb::cursor::phase;
using cdc::mongodb::cursor::resume_action;
using cdc::mongodb::cursor::resume_policy;
using kind = resume_action::kind;

namespace {

diagnostics server_error(int code, std::vector<std::string> labels = {}) {
    diagnostics d;
    d.code = errc::server;
    d.server_code = code;
    d.server_text = "the server's words, perhaps with user data";
    d.labels = std::move(labels);
    return d;
}

resume_policy make() {
    return {"collection shop.orders", {500ms, 30000ms}, 7};
}

constexpr phase every_phase[] = {phase::connecting, phase::opening_without,
                                 phase::opening_with_token, phase::get_more};

/// What a code means in a phase.
enum class meaning {
    forever,           ///< retried for ever on the same connection
    forever_reconnect, ///< … after finding a server again
    reopen,            ///< first at once, then with backoff
    dead,
    refused, ///< the position, by a server that knows what it is
    stop,
    bounded, ///< three attempts
};

struct row {
    int code;
    meaning connecting;
    meaning opening_without;
    meaning opening_with_token;
    meaning get_more;
};

constexpr row same(int code, meaning m) {
    return {code, m, m, m, m};
}

constexpr auto F = meaning::forever;
constexpr auto R = meaning::forever_reconnect;
constexpr auto O = meaning::reopen;
constexpr auto D = meaning::dead;
constexpr auto X = meaning::refused;
constexpr auto S = meaning::stop;
constexpr auto B = meaning::bounded;

constexpr row table[] = {
    // for ever
    same(6, R),
    same(7, R),
    same(89, R),
    same(91, R),
    same(189, R),
    same(9001, R),
    same(10107, R),
    same(11600, R),
    same(11602, R),
    same(13435, R),
    same(13436, R),
    same(24, F),
    same(50, F),
    same(134, F),
    same(202, F),
    same(365, F),
    same(262, F),
    same(11601, F),
    same(43, F),
    // reopened
    same(222, O),
    same(234, O),
    same(237, O),
    same(133, R),
    // dead positions
    same(286, D),
    same(280, D),
    same(136, D),
    // dead when they are about the token that was sent
    {260, B, B, X, B},
    {50811, B, B, X, B},
    {15, B, B, D, B},
    {9, B, S, D, B},
    // no use to try again
    same(13, S),
    same(18, S),
    same(40573, S),
    same(166, S),
    same(20, S),
    // the pipeline
    {2, B, S, S, B},
    {14, B, S, S, B},
    {72, B, S, S, B},
    {73, B, S, S, B},
    {168, B, S, S, B},
    {40323, B, S, S, B},
    {40324, B, S, S, B},
    {40415, B, S, S, B},
    {51091, B, S, S, B},
    // bounded
    same(10334, B),
    same(40, B), // seen to pass (FLINK-38550)
    same(50738, B),
    same(26, B),
    same(8, B),
    same(59, B),
    same(123456, B),
    same(0, B),
};

void check(int code, phase where, meaning m) {
    INFO("code " << code << " in phase " << static_cast<int>(where));
    auto policy = make();
    const auto d = server_error(code);
    auto a = policy.on_error(where, d);
    switch (m) {
    case meaning::forever:
    case meaning::forever_reconnect:
        for (int i = 0; i < 50; ++i) {
            REQUIRE(a.what == kind::retry);
            CHECK(a.delay >= 500ms);
            CHECK(a.delay <= 30s);
            CHECK(a.reconnect == (m == meaning::forever_reconnect));
            a = policy.on_error(where, d);
        }
        return;
    case meaning::reopen:
        CHECK(a.what == kind::retry);
        CHECK(a.delay == 0ms);
        CHECK_FALSE(a.reconnect);
        for (int i = 0; i < 50; ++i) {
            a = policy.on_error(where, d);
            REQUIRE(a.what == kind::retry);
            CHECK(a.delay >= 500ms);
        }
        return;
    case meaning::dead:
        CHECK(a.what == kind::position_dead);
        CHECK_FALSE(a.text.empty());
        return;
    case meaning::refused:
        CHECK(a.what == kind::position_refused);
        CHECK_FALSE(a.text.empty());
        return;
    case meaning::stop:
        CHECK(a.what == kind::fail);
        CHECK_FALSE(a.text.empty());
        return;
    case meaning::bounded:
        CHECK(a.what == kind::retry);
        CHECK(a.delay >= 500ms);
        CHECK(policy.on_error(where, d).what == kind::retry);
        a = policy.on_error(where, d);
        CHECK(a.what == kind::fail);
        CHECK(a.text.find("3 attempts") != std::string::npos);
        return;
    }
}

} // namespace

TEST_CASE("fault 45: every server code in every phase", "[sources][resume][fault-45]") {
    std::set<int> seen;
    for (const auto& r : table) {
        CHECK(seen.insert(r.code).second);
        check(r.code, phase::connecting, r.connecting);
        check(r.code, phase::opening_without, r.opening_without);
        check(r.code, phase::opening_with_token, r.opening_with_token);
        check(r.code, phase::get_more, r.get_more);
    }
}

TEST_CASE("errors that no server gave", "[sources][resume]") {
    for (const auto where : every_phase) {
        for (const auto code : {errc::network, errc::timeout}) {
            auto policy = make();
            for (int i = 0; i < 50; ++i) {
                const auto a = policy.on_error(where, cdc::error::fail(code, "gone"));
                REQUIRE(a.what == kind::retry);
                CHECK(a.reconnect);
                CHECK(a.delay >= 500ms);
            }
        }
        for (const auto code : {errc::authentication, errc::configuration, errc::unsupported,
                                errc::closed, errc::internal, errc::cancelled}) {
            auto policy = make();
            const auto a = policy.on_error(where, cdc::error::fail(code, "the reason"));
            CHECK(a.what == kind::fail);
            CHECK(a.text.find("the reason") != std::string::npos);
        }
        for (const auto code : {errc::protocol, errc::bad_data}) {
            auto policy = make();
            const auto d = cdc::error::fail(code, "the reason");
            CHECK(policy.on_error(where, d).what == kind::retry);
            CHECK(policy.on_error(where, d).what == kind::retry);
            const auto a = policy.on_error(where, d);
            CHECK(a.what == kind::fail);
            CHECK(a.text.find("the reason") != std::string::npos);
        }
    }
}

TEST_CASE("a refused login is tried again, not for ever, once the credentials were taken",
          "[sources][resume]") {
    for (const auto& d : {cdc::error::fail(errc::authentication, "refused"), server_error(18)}) {
        auto policy = make();
        CHECK(policy.on_error(phase::connecting, d).what == kind::fail);
        policy.on_login();
        CHECK(policy.on_error(phase::connecting, d).what == kind::retry);
        CHECK(policy.on_error(phase::connecting, d).what == kind::retry);
        const auto a = policy.on_error(phase::connecting, d);
        CHECK(a.what == kind::fail);
        CHECK(a.text.find("credentials that it took before") != std::string::npos);
        policy.on_progress();
        CHECK(policy.on_error(phase::connecting, d).what == kind::retry);
    }
}

TEST_CASE("the resumable label decides about what is not known to be dead", "[sources][resume]") {
    for (const auto where : every_phase)
        for (const int code : {123456, 11600, 43, 13, 10334, 237}) {
            auto policy = make();
            const auto d = server_error(code, {"ResumableChangeStreamError"});
            for (int i = 0; i < 10; ++i) {
                const auto a = policy.on_error(where, d);
                REQUIRE(a.what == kind::retry);
                CHECK(a.delay >= 500ms);
            }
        }
    for (const int code : {280, 286, 136}) {
        auto policy = make();
        CHECK(policy.on_error(phase::get_more, server_error(code, {"ResumableChangeStreamError"}))
                  .what == kind::position_dead);
    }
    auto policy = make();
    CHECK(policy.on_error(phase::get_more, server_error(280, {"NonResumableChangeStreamError"}))
              .what == kind::position_dead);
}

TEST_CASE("bounded attempts are counted per position", "[sources][resume]") {
    auto policy = make();
    const auto big = server_error(10334);
    for (int position = 0; position < 5; ++position) {
        CHECK(policy.on_error(phase::get_more, big).what == kind::retry);
        CHECK(policy.on_error(phase::get_more, big).what == kind::retry);
        policy.on_progress();
    }
    // Trouble of other kinds in between neither adds nor resets.
    CHECK(policy.on_error(phase::get_more, big).what == kind::retry);
    for (int i = 0; i < 5; ++i)
        CHECK(policy.on_error(phase::connecting, cdc::error::fail(errc::network, "x")).what ==
              kind::retry);
    CHECK(policy.on_error(phase::get_more, big).what == kind::retry);
    CHECK(policy.failures() == 7);
    const auto a = policy.on_error(phase::get_more, big);
    CHECK(a.what == kind::fail);
    CHECK(a.text.find("larger than the server can send") != std::string::npos);
}

TEST_CASE("backoff grows and starts over with progress", "[sources][resume]") {
    auto policy = make();
    const auto d = cdc::error::fail(errc::network, "x");
    std::chrono::milliseconds longest{0};
    for (int i = 0; i < 20; ++i)
        longest = std::max(longest, policy.on_error(phase::get_more, d).delay);
    CHECK(longest >= 15s);
    policy.on_progress();
    CHECK(policy.failures() == 0);
    CHECK(policy.on_error(phase::get_more, d).delay <= 1000ms);
    policy.on_progress();
    // A cursor that was killed again, after progress, is opened again at once.
    CHECK(policy.on_error(phase::get_more, server_error(237)).delay == 0ms);
}

TEST_CASE("states say what to do and keep the server's text out", "[sources][resume]") {
    struct row {
        int code;
        const char* says;
    };
    for (const auto& r : {row{13, "rights changeStream and find on collection shop.orders"},
                          row{18, "mongodb.password"}, row{40573, "replica set"},
                          row{40324, "pipeline"}, row{20, "refuses"}}) {
        auto policy = make();
        const auto a = policy.on_error(phase::opening_without, server_error(r.code));
        INFO(a.text);
        CHECK(a.text.find(r.says) != std::string::npos);
        CHECK(a.text.find("user data") == std::string::npos);
    }
}
