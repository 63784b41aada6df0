// SPDX-License-Identifier: Apache-2.0
// What becomes of stored positions that the server does not take any more.
#include "core/event/control_record.hpp"
#include "tests/unit/sources/stream_fixture.hpp"

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;
using mongodb::streaming::answer_to_loss;
using mongodb::streaming::loss_answer;
using mongodb::streaming::loss_settings;
using mongodb::streaming::lost_position;

TEST_CASE("faults 45, 56 and 59: only what truly left the oplog is given up, and only when asked "
          "for",
          "[sources][loss][fault-45][fault-56][fault-59]") {
    const std::optional<bool> unknown;
    for (const bool from_now : {false, true})
        for (const bool from_time : {false, true}) {
            const loss_settings s{from_now, from_time};
            const auto lost = from_now ? loss_answer::go_on_from_now : loss_answer::fail;
            const auto again = from_time ? loss_answer::read_again_from_time : loss_answer::fail;
            for (const int code : {286, 136, 9, 15})
                for (const auto within : {unknown, std::optional(true), std::optional(false)})
                    CHECK(answer_to_loss(s, {code, within}) == lost);
            CHECK(answer_to_loss(s, {280, false}) == lost);
            CHECK(answer_to_loss(s, {280, true}) == again);
            CHECK(answer_to_loss(s, {280, true, true}) == loss_answer::fail);
            // Only by the server's word, which a set made anew gives too.
            CHECK(answer_to_loss(s, {280, true, false, false, false, false}) == loss_answer::fail);
            CHECK(answer_to_loss(s, {280, unknown}) == loss_answer::fail);
            // A fragment's: read again without being asked, as long as the oplog has it.
            CHECK(answer_to_loss(s, {280, true, false, false, true}) ==
                  loss_answer::read_again_from_time);
            CHECK(answer_to_loss(s, {280, true, true, false, true}) == loss_answer::fail);
            CHECK(answer_to_loss(s, {280, false, false, false, true}) == lost);
            for (const int code : {286, 280, 136})
                CHECK(answer_to_loss(s, {code, false, false, true}) == loss_answer::fail);
        }
}

namespace {

std::string field(const event::control_record& record, std::string_view name) {
    for (const auto& f : record.more)
        if (f.name == name)
            return f.value.value_or("null");
    return "absent";
}

/// The next batch is the gap and nothing else.
asio::awaitable<event::position> take_gap(stream_fixture& f, std::string from, bool readable) {
    const auto batch = co_await f.source->next_batch();
    REQUIRE(batch);
    REQUIRE((*batch)->events().size() == 1);
    const auto& e = (*batch)->events()[0];
    CHECK(e.op == event::operation::control);
    REQUIRE(e.control);
    CHECK(e.control->topic_suffix == "gap");
    CHECK(e.control->type == "gap");
    CHECK_FALSE(e.control->ns);
    REQUIRE((*batch)->end());
    const auto& end = *(*batch)->end();
    // Its own position is where reading goes on.
    CHECK(bson::find(e.resume_token, "_data")->as_string() == end.data());
    CHECK(e.cluster_time == end.cluster_time());
    CHECK(field(*e.control, "from_token") == from);
    CHECK(field(*e.control, "from_time") == "1970-01-01T00:16:41Z");
    CHECK(field(*e.control, "to_token") == end.data());
    CHECK(field(*e.control, "to_time") == "1970-01-01T00:18:21Z");
    CHECK(field(*e.control, "oldest_time") == (readable ? "1970-01-01T00:17:30Z" : "null"));
    CHECK(field(*e.control, "newest_time") == (readable ? "1970-01-01T00:18:21Z" : "null"));
    co_return end.clone();
}

asio::awaitable<void> goes_on(stream_fixture& f, event::position from) {
    const std::string token(from.data());
    f.set.add(0);
    f.set.write_elsewhere(100);
    f.set.truncate_before(1050);
    co_await start_at(f, std::move(from));
    const auto to = co_await take_gap(f, token, f.set.readable_oplog);
    CHECK(to.is_high_water());
    CHECK(to.cluster_time().t == 1101);
    CHECK(f.source->status().gaps == 1);
    CHECK(f.log->count("is lost, changes behind it can no longer be read") == 1);
    CHECK(f.log->count("gap: the changes of") == 1);
    f.set.add(7);
    received got;
    co_await take_events(*f.source, got, 1);
    CHECK(got.ids == std::vector<std::int32_t>{7});
    CHECK(f.source->status().gaps == 1);
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

} // namespace

TEST_CASE("fault 59: on.lost.position from_now tells the gap before anything behind it",
          "[sources][stream][loss][fault-59]") {
    for (const bool readable : {true, false})
        for (const bool event_token : {true, false}) {
            INFO(readable << event_token);
            stream_fixture f;
            f.settings.on_loss.go_on_from_now = true;
            f.set.readable_oplog = readable;
            auto from = event_token ? at_event(1001) : at_high_water(1001);
            f.run(goes_on(f, std::move(from)));
        }
}

static asio::awaitable<void> goes_on_after_faults(stream_fixture& f, std::string command) {
    f.set.add(0);
    f.set.write_elsewhere(100);
    f.set.truncate_before(1050);
    auto from = at_event(1001);
    const std::string token(from.data());
    // Behind the loss: the look at the oplog, the opening from now.
    f.set.faults.push_back(
        {command, command == "find" ? 2u : 0u, 2, error::fail(error::errc::network, "reset")});
    co_await start_at(f, std::move(from));
    co_await take_gap(f, token, true);
    CHECK(f.set.faults.empty());
    CHECK(f.source->status().gaps == 1);
    co_await f.source->stop();
}

TEST_CASE("fault 46: a network error while a loss is looked into is no loss of its own",
          "[sources][stream][loss][fault-46]") {
    for (const auto* command : {"find", "aggregate"}) {
        INFO(command);
        stream_fixture f;
        f.settings.on_loss.go_on_from_now = true;
        f.run(goes_on_after_faults(f, command));
    }
}

static asio::awaitable<void> lost_while_running(stream_fixture& f) {
    co_await start_at_high_water(f, 1000);
    received got;
    f.set.add(0);
    co_await take_events(*f.source, got, 1);
    const std::string last(got.ends.back().data());
    co_await until(f.context, [&] { return f.set.waiting; });
    // The connection breaks, and while it is away the oplog rolls over.
    f.set.faults.push_back({"getMore", 0, 1, error::fail(error::errc::network, "reset")});
    f.set.faults.push_back({"connect", 0, 3, error::fail(error::errc::network, "down")});
    co_await idle(f);
    co_await until(f.context, [&] { return f.set.count("connect") == 2; });
    f.set.write_elsewhere(100);
    f.set.truncate_before(1050);
    co_await take_gap(f, last, true);
    CHECK(f.source->status().gaps == 1);
    CHECK(f.source->status().reopened > 1);
    co_await f.source->stop();
}

TEST_CASE("a loss in the middle of a run is told as one at a start", "[sources][stream][loss]") {
    stream_fixture f;
    f.settings.on_loss.go_on_from_now = true;
    f.settings.batch_size = 1;
    f.run(lost_while_running(f));
}

static asio::awaitable<void> not_given_up(stream_fixture& f, error::errc code, std::string says) {
    auto from = at_event(1001);
    f.make();
    const auto started = co_await f.source->start(std::move(from));
    received got;
    if (started)
        co_await take_error(*f.source, got);
    const auto& d = started ? *got.error : started.error();
    INFO(d.text);
    CHECK(d.code == code);
    CHECK(d.text.find(says) != std::string::npos);
    CHECK(got.ends.empty());
    CHECK(f.source->status().gaps == 0);
    co_await f.source->stop();
}

TEST_CASE("fault 59: from_now is no answer to what is not a loss",
          "[sources][stream][loss][fault-59]") {
    stream_fixture f;
    f.settings.on_loss.go_on_from_now = true;
    f.set.add(0);
    f.set.write_elsewhere(5);
    SECTION("a token that the server refuses") {
        f.set.faults.push_back({"aggregate", 0, 1, server_says(260)});
        f.run(not_given_up(f, error::errc::position_lost, "is it of another deployment?"));
    }
    SECTION("missing rights") {
        f.set.faults.push_back({"aggregate", 0, 1, server_says(13)});
        f.run(not_given_up(f, error::errc::server, "lacks the rights"));
    }
    SECTION("refused credentials") {
        f.set.faults.push_back(
            {"connect", 0, 1, error::fail(error::errc::authentication, "refused")});
        f.run(not_given_up(f, error::errc::authentication, "credentials"));
    }
    SECTION("an event that is missing within the oplog") {
        f.set.faults.push_back({"getMore", 0, 1, server_says(280)});
        f.run(not_given_up(f, error::errc::position_lost, "on.token.not.found"));
    }
    SECTION("a server that does not tell where from now is") {
        f.set.gives_tokens = false;
        f.set.truncate_before(1004);
        f.run(not_given_up(f, error::errc::unsupported, "needs MongoDB 4.0.7"));
    }
}

static asio::awaitable<void> read_again(stream_fixture& f) {
    f.set.add(0); // 1001, the position
    f.set.add(1);
    f.set.add(2);
    f.set.faults.push_back({"getMore", 0, 1, server_says(280)});
    co_await start_at_event(f, 1001);
    std::vector<std::int32_t> ids;
    while (ids.size() < 3) {
        const auto batch = co_await f.source->next_batch();
        REQUIRE(batch);
        for (const auto& e : (*batch)->events())
            ids.push_back(e.id->as_int32());
        if ((*batch)->end()) // never behind the position that was lost
            CHECK(*(*batch)->end() > at_event(1001));
    }
    // Repeated from the position's time on, nothing missing.
    CHECK(ids == std::vector<std::int32_t>{0, 1, 2});
    CHECK(bson::find(f.set.opened.back(), "startAtOperationTime")->as_timestamp() ==
          bson::timestamp{1001, 1});
    const std::string token(at_event(1001).data());
    CHECK(f.log->count("(token " + token + "), though its oplog reaches back to it") == 1);
    co_await f.source->stop();
}

TEST_CASE("fault 56: a token that the server forgot within its oplog is read again from its time",
          "[sources][stream][loss][fault-56]") {
    stream_fixture f;
    f.settings.on_loss.read_again_from_time = true;
    f.run(read_again(f));
}

// A set that was made anew under its name opens a stream at any time before it, too.
TEST_CASE("by the server's word alone nothing is read again from a time",
          "[sources][stream][loss]") {
    stream_fixture f;
    f.set.readable_oplog = false;
    f.settings.on_loss.read_again_from_time = true;
    f.set.add(0);
    f.set.add(1);
    f.set.faults.push_back({"getMore", 0, 1, server_says(280)});
    f.run(not_given_up(f, error::errc::position_lost, "if the user may read local.oplog.rs"));
}

TEST_CASE(
    "fault 56: without that policy, and the second time, it is a failure that names the token",
    "[sources][stream][loss][fault-56]") {
    for (const bool policy : {false, true}) {
        stream_fixture f;
        f.settings.on_loss.read_again_from_time = policy;
        f.set.add(0);
        f.set.add(1);
        f.set.faults.push_back({"getMore", 0, 2, server_says(280)});
        f.run(not_given_up(f, error::errc::position_lost,
                           "does not find the event of the position of 1970-01-01T00:16:41Z "
                           "(timestamp 1001, 1) (token 82000003E9"));
    }
}

static asio::awaitable<void> ahead_of_now(stream_fixture& f) {
    auto from = at_high_water(5000);
    f.set.faults.push_back({"getMore", 0, 1, server_says(286)});
    co_await start_at(f, std::move(from));
    received got;
    co_await take_error(*f.source, got);
    INFO(got.error->text);
    CHECK(got.error->text.find("positions never go back") != std::string::npos);
    CHECK(f.source->status().gaps == 0);
    co_await f.source->stop();
}

TEST_CASE("fault 52: a lost position ahead of everything is no place to go back from",
          "[sources][stream][loss][fault-52]") {
    stream_fixture f;
    f.settings.on_loss.go_on_from_now = true;
    f.run(ahead_of_now(f));
}

static asio::awaitable<void> looks_at_oplog(stream_fixture& f) {
    f.settings.headroom.warn_below = std::chrono::seconds(60);
    co_await start_at_high_water(f, 1000);
    received got;
    f.set.write_elsewhere(10);
    co_await take_one(*f.source, got);
    CHECK(f.source->status().headroom == std::chrono::milliseconds(1000'000));
    CHECK(f.log->count("the stored position is 1000 s from the oplog's oldest entry") == 1);
    // Once an interval and no more, one entry each.
    const auto finds = f.set.count("find");
    for (int i = 0; i < 20; ++i) {
        f.set.write_elsewhere(1);
        co_await take_one(*f.source, got);
    }
    CHECK(f.set.count("find") == finds);
    co_await f.source->stop();
}

TEST_CASE("the distance to the oplog's oldest entry is a value of the status",
          "[sources][stream][headroom]") {
    stream_fixture f;
    f.run(looks_at_oplog(f));
}

static asio::awaitable<void> looks_while_paused(stream_fixture& f) {
    f.settings.headroom = {std::chrono::seconds(60), std::chrono::milliseconds(1)};
    co_await start_at_high_water(f, 1000);
    for (int i = 0; i < 4; ++i)
        f.set.add(i);
    // Nobody takes what was read, as when all sinks are blocked: that is when it matters.
    f.set.truncate_before(950);
    co_await until(f.context, [&] { return f.log->count("is only 50 s from") == 1; });
    const auto finds = f.set.count("find");
    co_await until(f.context, [&] { return f.set.count("find") > finds + 3; });
    CHECK(f.log->count("is only") == 1);
    // What is stored counts, not what was read.
    const auto stored = at_event(1004);
    f.source->stored(stored);
    co_await until(f.context, [&] {
        return f.source->status().headroom == std::chrono::milliseconds(54'000);
    });
    f.set.truncate_before(900);
    co_await until(f.context, [&] { return f.log->count("is 104 s from") == 1; });
    f.set.truncate_before(1003);
    co_await until(f.context, [&] { return f.log->count("is only 1 s from") == 1; });
    co_await f.source->stop();
}

TEST_CASE("the oplog is looked at while the sinks are blocked, and a low headroom is warned about",
          "[sources][stream][headroom]") {
    stream_fixture f;
    f.run(looks_while_paused(f));
}

static asio::awaitable<void> looks_in_vain(stream_fixture& f, error::diagnostics d) {
    f.settings.headroom.interval = std::chrono::milliseconds(1);
    co_await start_now(f);
    f.set.faults.push_back({"find", 0, 2, std::move(d)});
    for (int i = 0; i < 6; ++i)
        f.set.add(i);
    received got;
    co_await take_events(*f.source, got, 6);
    CHECK(got.ids == numbers(6));
    co_await f.source->stop();
    CHECK(f.set.open_cursors() == 0);
}

TEST_CASE("a look at the oplog that fails stops nothing", "[sources][stream][headroom]") {
    for (const auto& d :
         {server_says(13), server_says(50), server_says(11600),
          error::fail(error::errc::network, "reset"), error::fail(error::errc::protocol, "odd")}) {
        INFO(d.describe());
        stream_fixture f;
        f.run(looks_in_vain(f, d));
    }
}
