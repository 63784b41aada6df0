// SPDX-License-Identifier: Apache-2.0
// Where a stream begins when nothing is stored.
#include "tests/unit/sources/stream_fixture.hpp"

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;
using mongodb::streaming::start_point;

namespace {

asio::awaitable<void> begins(stream_fixture& f, std::string end, std::vector<std::int32_t> ids) {
    co_await start_now(f);
    received got;
    co_await take_one(*f.source, got);
    // The place alone, so that it can be stored before anything is delivered.
    CHECK(got.ids.empty());
    REQUIRE(got.ends.size() == 1);
    CHECK(got.ends[0].data() == end);
    co_await take_events(*f.source, got, ids.size());
    CHECK(got.ids == ids);
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

asio::awaitable<void> refused(stream_fixture& f, error::errc code, std::vector<std::string> says) {
    f.make();
    event::position nowhere;
    const auto started = co_await f.source->start(std::move(nowhere));
    REQUIRE_FALSE(started);
    INFO(started.error().text);
    CHECK(started.error().code == code);
    for (const auto& text : says)
        CHECK(started.error().text.find(text) != std::string::npos);
    // Nothing came out that could have been stored.
    received got;
    co_await take_error(*f.source, got);
    CHECK(got.ends.empty());
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

std::string data_of(const bson::document& token) {
    return std::string(bson::find(token, "_data")->as_string());
}

void add_three(stream_fixture& f) { // at 1001, 1002, 1003
    for (int i = 0; i < 3; ++i)
        f.set.add(i);
}

} // namespace

TEST_CASE("fault 60: a stream starts at a time, that time included",
          "[sources][stream][start][fault-60]") {
    for (const bool readable : {true, false}) {
        stream_fixture f;
        f.set.readable_oplog = readable;
        add_three(f);
        f.settings.start = start_point(bson::timestamp{1002, 1});
        f.run(begins(f, data_of(fake_set::high_water_token(1002, 1)), {1, 2}));
        CHECK(bson::find(f.set.opened.at(0), "startAtOperationTime")->as_timestamp() ==
              bson::timestamp{1002, 1});
        CHECK(f.log->count("starts at the configured place, 1970-01-01T00:16:42Z") == 1);
    }
}

TEST_CASE("fault 60: a stream starts behind a token", "[sources][stream][start][fault-60]") {
    stream_fixture f;
    add_three(f);
    SECTION("of an event") {
        f.settings.start = start_point(at_event(1001));
        f.run(begins(f, data_of(fake_set::event_token(1001)), {1, 2}));
    }
    SECTION("of a time") {
        f.settings.start = start_point(at_high_water(1001));
        f.run(begins(f, data_of(fake_set::high_water_token(1001)), {1, 2}));
    }
    SECTION("of an event, on a quiet stream: proved by a probe") {
        f.settings.start = start_point(at_event(1003));
        f.set.write_elsewhere(10);
        f.run(begins(f, data_of(fake_set::event_token(1003)), {}));
        CHECK(f.set.opened.size() == 2);
    }
}

TEST_CASE("a stream starts at the oldest entry", "[sources][stream][start]") {
    stream_fixture f;
    add_three(f);
    f.set.truncate_before(1002);
    f.settings.start = start_point(start_point::oldest{});
    f.run(begins(f, data_of(fake_set::high_water_token(1002, 1)), {1, 2}));
}

TEST_CASE("a time before everything that ever happened begins with the first entry",
          "[sources][stream][start]") {
    stream_fixture f;
    add_three(f);
    f.set.new_set = true;
    f.set.truncate_before(1001);
    f.settings.start = start_point(bson::timestamp{7, 1});
    // The entry's own time: a position from before it would count as lost at the next start.
    f.run(begins(f, data_of(fake_set::high_water_token(1001, 1)), {0, 1, 2}));
}

TEST_CASE("fault 60: a start that the oplog does not reach back to is refused, naming both times",
          "[sources][stream][start][fault-60]") {
    stream_fixture f;
    add_three(f);
    f.set.truncate_before(1002);
    const std::string oldest = "1970-01-01T00:16:42Z (timestamp 1002, 1)";
    SECTION("a time") {
        f.settings.start = start_point(bson::timestamp{1001, 1});
        f.run(refused(f, error::errc::position_lost,
                      {"capture.start.op.time 1970-01-01T00:16:41Z (timestamp 1001, 1)", oldest}));
        CHECK(f.set.opened.empty());
    }
    SECTION("a token") {
        f.settings.start = start_point(at_event(1001));
        f.run(refused(f, error::errc::position_lost,
                      {"capture.start.token 82000003E9", "1970-01-01T00:16:41Z", oldest}));
    }
    SECTION("a token from before the set was made") {
        f.set.new_set = true;
        f.settings.start = start_point(at_event(1001));
        f.run(refused(f, error::errc::position_lost, {"capture.start.token", oldest}));
    }
    f.set.readable_oplog = false;
    SECTION("a time, where the user may not read the oplog") {
        f.settings.start = start_point(bson::timestamp{1001, 1});
        f.run(refused(f, error::errc::position_lost,
                      {"capture.start.op.time 1970-01-01T00:16:41Z (timestamp 1001, 1) cannot be "
                       "used",
                       "oldest entry unknown"}));
    }
    SECTION("a token of an event, where the user may not read the oplog") {
        f.settings.start = start_point(at_event(1001));
        f.run(refused(f, error::errc::position_lost, {"capture.start.token", "cannot be used"}));
    }
    SECTION("a token of an event, noticed by the probe") {
        f.set.truncate_before(1010);
        f.set.write_elsewhere(20);
        f.settings.start = start_point(at_event(1003));
        f.run(refused(f, error::errc::position_lost, {"capture.start.token", "cannot be used"}));
    }
    SECTION("a token of a time, where the user may not read the oplog") {
        f.settings.start = start_point(at_high_water(1001));
        f.run(refused(f, error::errc::position_lost, {"capture.start.token", "cannot be used"}));
    }
    SECTION("the oldest entry, where the user may not read the oplog") {
        f.settings.start = start_point(start_point::oldest{});
        f.run(refused(f, error::errc::configuration,
                      {"capture.start.from: oldest needs the right find on local.oplog.rs"}));
    }
}

TEST_CASE("fault 60: a start that lies ahead is refused, because the server would wait in silence",
          "[sources][stream][start][fault-60]") {
    stream_fixture f;
    add_three(f);
    SECTION("a time") {
        f.settings.start = start_point(bson::timestamp{1003, 3});
        f.run(refused(f, error::errc::configuration,
                      {"capture.start.op.time", "lies ahead", "(timestamp 1003, 1)"}));
    }
    SECTION("a token") {
        f.settings.start = start_point(at_event(2000));
        f.run(refused(f, error::errc::configuration, {"capture.start.token", "lies ahead"}));
    }
    SECTION("the place of a stream from now is one tick ahead, and allowed") {
        const start_point at(bson::timestamp{1003, 2});
        CHECK(at.check_not_ahead({1003, 1}));
        CHECK(at.check_not_ahead({1003, 2}));
        CHECK_FALSE(at.check_not_ahead({1003, 0}));
        CHECK_FALSE(at.check_not_ahead({1002, 7}));
        CHECK(start_point(start_point::oldest{}).check_not_ahead({}));
    }
}

TEST_CASE("fault 60: a token that the server does not take is refused",
          "[sources][stream][start][fault-60]") {
    for (const int code : {9, 15, 260, 50811}) {
        INFO(code);
        stream_fixture f;
        add_three(f);
        f.set.faults.push_back({"aggregate", 0, 1, server_says(code)});
        f.settings.start = start_point(at_event(1001));
        f.settings.on_loss.go_on_from_now = true; // is about stored positions
        f.run(refused(f, error::errc::position_lost, {"capture.start.token 82000003E9"}));
    }
}

TEST_CASE("faults until the start has shown to be there change nothing about it",
          "[sources][stream][start]") {
    for (const auto* command : {"connect", "aggregate", "getMore"})
        for (const auto& d : {error::fail(error::errc::network, "reset"), server_says(11600)}) {
            INFO(command << " " << d.describe());
            stream_fixture f;
            add_three(f);
            f.set.faults.push_back({command, 0, 2, d});
            f.settings.start = start_point(bson::timestamp{1002, 1});
            f.run(begins(f, data_of(fake_set::high_water_token(1002, 1)), {1, 2}));
            CHECK(f.set.faults.empty());
        }
}

TEST_CASE("an oldest entry that leaves while the stream is opened there is looked for again",
          "[sources][stream][start]") {
    stream_fixture f;
    add_three(f);
    f.set.truncate_before(1002);
    f.settings.start = start_point(start_point::oldest{});
    unsigned times = 2;
    bool good = true;
    SECTION("twice") {
        times = 2;
    }
    SECTION("again and again") {
        times = 3;
        good = false;
    }
    f.set.faults.push_back({"getMore", 0, times, server_says(286)});
    if (good)
        f.run(begins(f, data_of(fake_set::high_water_token(1002, 1)), {1, 2}));
    else
        f.run(refused(f, error::errc::position_lost, {"capture.start.from: oldest"}));
    CHECK(f.set.faults.empty());
}

static asio::awaitable<void> stored_wins(stream_fixture& f) {
    add_three(f);
    co_await start_at_event(f, 1002);
    received got;
    co_await take_events(*f.source, got, 1);
    CHECK(got.ids == std::vector<std::int32_t>{2});
    CHECK(f.log->count("a position is stored, so capture.start.op.time") == 1);
    co_await f.source->stop();
}

TEST_CASE("with a stored position the configured start is not used, and the log says so",
          "[sources][stream][start]") {
    stream_fixture f;
    f.settings.start = start_point(bson::timestamp{1001, 1});
    f.run(stored_wins(f));
}

TEST_CASE("resume tokens are taken as people have them", "[event][start]") {
    const std::string hex = "826B0D19C30000000A2B022C0100296E5A100404382D02B7CA4A80BCBA354CBAD771BF"
                            "461E5F696400290004";
    for (const auto& text : {hex, R"({"_data": ")" + hex + R"("})",
                             R"({"_data": ")" + hex +
                                 R"(", "_typeBits": {"$binary": {"base64": "gv8=", "subType": )"
                                 R"("00"}}})"}) {
        const auto position = event::position::from_token_text(text);
        REQUIRE(position);
        CHECK(position->data() == hex);
        CHECK(position->cluster_time() == bson::timestamp{1796020675, 10});
        CHECK(bson::find(position->token(), "_typeBits").has_value() ==
              (text.find("_typeBits") != std::string::npos));
    }
    for (const std::string& text :
         {std::string(), std::string("82"), std::string("nothex"), hex + "0", "83" + hex.substr(2),
          hex.substr(0, 30) + "XY", std::string("{"), std::string("{}"),
          std::string(R"({"_data": 1})"), R"({"data": ")" + hex + R"("})", hex + " "}) {
        INFO(text);
        const auto position = event::position::from_token_text(text);
        REQUIRE_FALSE(position);
        if (text.size() > 2)
            CHECK(position.error().text.find(text) == std::string::npos);
    }
}
