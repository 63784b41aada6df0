// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "sources/mongodb/streaming/primary_judge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/test_data.hpp"

#include <string>
#include <vector>

using namespace cdc;
using namespace std::chrono_literals;
using mongodb::client::server_description;
using mongodb::streaming::primary_judge;

namespace {

/// The isMaster replies of the recorded elections, by the member that gave them.
std::vector<bson::document> recorded_replies() {
    std::vector<bson::document> out;
    for (auto& row : test::standin::read_recording(test::data_path("recordings/election.jsonl")))
        if (row.command && row.reply && bson::find(*row.command, "isMaster"))
            out.push_back(std::move(*row.reply));
    return out;
}

std::string text(bson::view of, const char* name) {
    const auto v = bson::find(of, name);
    return v ? std::string(v->as_string()) : std::string();
}

server_description described(bson::view hello, std::int32_t wire_version = 9) {
    server_description d;
    d.host = text(hello, "me");
    d.set_name = text(hello, "setName");
    d.hello = bson::document::copy_of(hello);
    d.max_wire_version = wire_version;
    return d;
}

bson::document reply(bool primary, std::int64_t counter) {
    bson::builder v;
    v.int64("counter", counter);
    const auto version = v.finish();
    bson::builder b;
    b.string("setName", "rs0").boolean("isWritablePrimary", primary).string("me", "db1:27017");
    if (counter > 0)
        b.document("topologyVersion", version);
    return b.finish();
}

} // namespace

TEST_CASE("recorded replies: who is still the primary and who is not", "[sources][primary]") {
    const auto replies = recorded_replies();
    // Primary and secondary before, the old primary after the step-down, the primary after the
    // second election, the last member alone.
    REQUIRE(replies.size() == 5);
    const auto& before = replies[0];
    const auto& stepped_down = replies[2];
    REQUIRE(text(before, "me") == text(stepped_down, "me"));

    primary_judge judge(10s);
    const auto server = described(before);
    judge.read_from(server);
    CHECK_FALSE(judge.on_found(server));
    // 4.4.0 has no hello; it is asked with the version it told, and may wait.
    const auto question = judge.next_question();
    CHECK(question.db == "admin");
    CHECK(bson::find(question.command, "isMaster"));
    const auto known = bson::find(question.command, "topologyVersion");
    REQUIRE(known);
    CHECK(bson::find(known->as_document(), "counter")->as_int64() == 6);
    CHECK(bson::find(question.command, "maxAwaitTimeMS")->as_int64() == 10000);

    CHECK_FALSE(judge.on_reply(before));
    const auto why = judge.on_reply(stepped_down);
    REQUIRE(why);
    CHECK(*why == "is no longer the primary, " + text(stepped_down, "primary") + " is");

    // The next primary; then it finds itself alone.
    const auto second = described(replies[3]);
    judge.read_from(second);
    CHECK_FALSE(judge.on_found(second));
    CHECK_FALSE(judge.on_reply(replies[3]));
    const auto alone = judge.on_reply(replies[4]);
    REQUIRE(alone);
    CHECK(*alone == "is no longer the primary");

    // A look around that finds the new primary says so by itself.
    judge.read_from(server);
    const auto elsewhere = judge.on_found(second);
    REQUIRE(elsewhere);
    CHECK(*elsewhere == "is no longer the primary, " + second.host + " is");
}

TEST_CASE("a member of another set is none to read from", "[sources][primary]") {
    primary_judge judge(10s);
    auto server = described(reply(true, 1));
    judge.read_from(server);
    server.set_name = "other";
    CHECK(*judge.on_found(server) == "is a member of replica set other now");
    bson::builder b;
    b.boolean("ismaster", true).string("setName", "other");
    CHECK(*judge.on_reply(b.finish()) == "is a member of replica set other now");
    b.boolean("ismaster", true);
    CHECK(*judge.on_reply(b.finish()) == "is no member of a replica set any more");
}

TEST_CASE("questions wait on the server where it can, and never follow each other without a pause",
          "[sources][primary]") {
    primary_judge judge(10s);
    const auto server = described(reply(true, 7), 13);
    judge.read_from(server);
    CHECK_FALSE(judge.on_found(server));
    CHECK(bson::find(judge.next_question().command, "hello"));
    // It waited for the whole interval: the next one goes out at once.
    CHECK_FALSE(judge.on_reply(reply(true, 7)));
    CHECK(judge.rest(10s) == 0ms);
    // It told news: nearly at once.
    CHECK_FALSE(judge.on_reply(reply(true, 8)));
    CHECK(judge.rest(2000ms) == 0ms);
    CHECK(judge.rest(1ms) == 99ms);
    // It answered early without news, so it does not wait.
    CHECK_FALSE(judge.on_reply(reply(true, 8)));
    CHECK(judge.rest(1ms) == 9999ms);

    // An old server is asked every interval.
    const auto old = described(reply(true, 0), 8);
    judge.read_from(old);
    CHECK_FALSE(judge.on_found(old));
    const auto question = judge.next_question();
    CHECK(bson::find(question.command, "isMaster"));
    CHECK_FALSE(bson::find(question.command, "topologyVersion"));
    CHECK_FALSE(bson::find(question.command, "maxAwaitTimeMS"));
    CHECK_FALSE(judge.on_reply(reply(true, 0)));
    CHECK(judge.rest(1ms) == 9999ms);
    CHECK(judge.on_reply(reply(false, 0)));
}
