// SPDX-License-Identifier: Apache-2.0
// The recording of elections, done again with three members of the stand-in. Besides what
// standin_recordings_test.cpp names, unequal are the waiting time of the getMore during the step-
// down (15 s there) and what the client's text of a lost reply has cut off.
#include "core/bson/builder.hpp"
#include "tests/integration/standin_recording_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_data.hpp"

#include <regex>

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;
namespace wire = cdc::test::wire;

using namespace cdc::test::standin;

namespace {

/// Names of the fields, those of inner documents behind their own.
void all_names(bson::view doc, std::vector<std::string>& out) {
    for (bson::cursor c{doc}; c.next();) {
        out.emplace_back(c.name());
        if (c.kind() == bson::type::document)
            all_names(c.as_document(), out);
    }
}

/// What the client printed of a reply: its fields in order, as far as it goes, and their text.
void check_printed(const std::string& printed, bson::view reply) {
    std::vector<std::string> expected;
    const std::regex field("'([A-Za-z]+)':");
    for (std::sregex_iterator at(printed.begin(), printed.end(), field), end; at != end; ++at)
        expected.push_back((*at)[1]);
    REQUIRE(expected.size() >= 4);
    std::vector<std::string> names;
    all_names(reply, names);
    REQUIRE(names.size() >= expected.size());
    names.resize(expected.size());
    CHECK(names == expected);
    const std::string text(bson::find(reply, "errmsg")->as_string());
    CHECK(printed.find(": " + text + ", full error: {") != std::string::npos);
}

/// One conversation after another, each row with what the server said.
class election_replay {
  public:
    election_replay()
        : rows_(standin::read_recording(cdc::test::data_path("recordings/election.jsonl")))
        , set(options()) {
        set.insert("w", "c", standin::from_json(R"({"_id": 0})"));
    }

    const standin::recorded_row& next() {
        REQUIRE(at_ < rows_.size());
        return rows_[at_++];
    }
    /// The next row with a command; rows of a note only are passed.
    const standin::recorded_row& next_command() {
        while (true) {
            const auto& row = next();
            if (row.command)
                return row;
        }
    }
    bool done() const { return at_ == rows_.size(); }

    bson::document command_of(const standin::recorded_row& row) const {
        bson::builder b;
        for (bson::cursor c{*row.command}; c.next();)
            if (c.name() == "getMore")
                b.int64("getMore", cursor_);
            else if (c.name() == "maxTimeMS")
                b.int32("maxTimeMS", wait_ms);
            else
                b.value(c.name(), c);
        // The client that was recorded reads from any member it is connected to.
        bson::builder mode;
        b.document("$readPreference", mode.string("mode", "primaryPreferred").finish());
        return b.finish();
    }

    void compare(const standin::recorded_row& row, bson::view reply) {
        INFO(row.note);
        REQUIRE(row.reply);
        check_equal(row.note, *row.reply, reply, unequal_in_replies);
        CHECK(ticks_ahead(*row.reply) == ticks_ahead(reply));
        if (bson::find(*row.command, "aggregate"))
            cursor_ = cursor_of(reply);
    }

    /// Asks a member what the next row asks, and compares.
    void ask_member(std::size_t member) {
        const auto& row = next_command();
        wire::client client(set.port(member));
        const auto reply =
            ask(client, bson::find(*row.command, "isMaster") ? "admin" : "w", command_of(row));
        compare(row, reply);
    }

    std::size_t waiting(std::size_t member) const {
        const auto counts = set.counts(member).commands;
        const auto at = counts.find("getMore");
        return at == counts.end() ? 0 : at->second.as_primary + at->second.as_secondary;
    }

    static constexpr int wait_ms = 300;

  private:
    static replica_set_options options() {
        replica_set_options out;
        out.members = 3;
        return out;
    }

    std::vector<standin::recorded_row> rows_;
    std::size_t at_ = 0;
    std::int64_t cursor_ = 0;

  public:
    standin::replica_set set;
};

} // namespace

TEST_CASE("stand-in: recording election", "[standin][recordings][election]") {
    election_replay r;
    r.ask_member(0); // the primary
    r.ask_member(1); // a secondary
    r.ask_member(1); // a find there
    {
        const auto& row = r.next();
        wire::client client(r.set.port(1));
        const auto reply = ask(client, "w", *row.command);
        check_printed(row.network, reply);
        CHECK(std::to_string(code_of(reply)).starts_with("101"));
        CHECK(row.network.find(
                  "'counter': " +
                  std::to_string(bson::find_path(reply, "topologyVersion.counter")->as_int64()) +
                  "}") != std::string::npos);
    }
    r.ask_member(0); // a stream

    // The primary steps down while a getMore waits; the recording has the getMore behind it.
    {
        const auto& step_down = r.next();
        const auto& more = r.next();
        wire::client reader(r.set.port(0));
        reader.send(with_db("w", r.command_of(more)));
        REQUIRE(eventually([&] { return r.waiting(0) == 1; }));
        wire::client admin(r.set.port(0));
        r.compare(step_down, ask(admin, "admin", *step_down.command));
        const auto reply = reader.receive();
        REQUIRE(reply);
        r.compare(more, *reply);
    }
    r.ask_member(0); // the same cursor on what is now a secondary
    r.ask_member(0); // the old primary's isMaster
    CHECK(r.set.primary() == 1);
    r.ask_member(1); // a stream on the new primary

    // It is shut down.
    {
        const auto& more = r.next();
        wire::client reader(r.set.port(1));
        reader.send(with_db("w", r.command_of(more)));
        REQUIRE(eventually([&] { return r.waiting(1) == 1; }));
        r.set.stop_member(1, standin::ending::shut_down);
        const auto reply = reader.receive();
        REQUIRE(reply);
        check_printed(more.network, *reply);
        CHECK(code_of(*reply) == 11600);
        CHECK(more.network.find("'errorLabels': ['" + labels_of(*reply).at(0) + "']") !=
              std::string::npos);
        CHECK_FALSE(reader.receive());
    }
    r.ask_member(2); // the third is primary now
    r.ask_member(2); // a stream there
    {
        const auto& more = r.next();
        CHECK(more.network.starts_with("AutoReconnect"));
        wire::client reader(r.set.port(2));
        reader.send(with_db("w", r.command_of(more)));
        REQUIRE(eventually([&] { return r.waiting(2) == 1; }));
        r.set.stop_member(2, standin::ending::killed);
        CHECK_FALSE(reader.receive());
    }
    r.ask_member(0); // the last member alone
    r.ask_member(0); // a stream on it
    CHECK(r.done());
}
