// SPDX-License-Identifier: Apache-2.0
// The recording of ended cursors, a fail point and missing rights. Besides what
// standin_recordings_test.cpp names, unequal are the cursor ids in texts, the hash and key of a
// signed cluster time, and the clients' times that a text about missing rights repeats. Not asked:
// the find with $expr ("maxTimeMS exceeded"), which the stand-in does not know. A cursor's end by
// time is done by the stand-in's own knob.
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

std::vector<std::string> unequal() {
    auto out = unequal_in_replies;
    out.insert(out.end(), {"$clusterTime.signature.hash", "$clusterTime.signature.keyId"});
    return out;
}

/// `doc` with this value of a string field.
bson::document with_text(bson::view doc, std::string_view field, const std::string& text) {
    bson::builder b;
    for (bson::cursor c{doc}; c.next();)
        if (c.name() == field)
            b.string(field, text);
        else
            b.value(c.name(), c);
    return b.finish();
}

bson::document with_cursor(bson::view command, std::int64_t id) {
    bson::builder b;
    for (bson::cursor c{command}; c.next();)
        if (c.name() == "getMore") {
            b.int64("getMore", id);
        } else if (c.name() == "cursors") {
            bson::builder list;
            b.array("cursors", list.int64("0", id).finish());
        } else {
            b.value(c.name(), c);
        }
    return b.finish();
}

/// The rows in order; each must be the one that the test means.
class cursors_replay {
  public:
    cursors_replay()
        : rows_(standin::read_recording(cdc::test::data_path("recordings/cursors_auth.jsonl"))) {}

    const standin::recorded_row& next(std::string_view note) {
        REQUIRE(at_ < rows_.size());
        CHECK(rows_[at_].note == note);
        return rows_[at_++];
    }
    bool done() const { return at_ == rows_.size(); }

    static void compare(const standin::recorded_row& row, bson::view reply) {
        INFO(row.note);
        check_equal(row.note, *row.reply, reply, unequal());
        CHECK(code_of(reply) == row.code.value_or(0));
        CHECK(ticks_ahead(*row.reply) == ticks_ahead(reply));
    }

    /// A getMore of a cursor that is not there any more.
    void ask_for_ended(wire::client& client, std::string_view note, std::int64_t id,
                       bson::view session = {}) {
        const auto& row = next(note);
        const auto recorded_id = std::to_string(bson::find(*row.command, "getMore")->as_int64());
        std::string text(bson::find(*row.reply, "errmsg")->as_string());
        text.replace(text.find(recorded_id), recorded_id.size(), std::to_string(id));
        bson::builder b;
        b.append_all(with_cursor(*row.command, id)).append_all(session);
        const auto reply = ask(client, "w", b.finish());
        check_equal(row.note, with_text(*row.reply, "errmsg", text), reply, unequal());
        CHECK(code_of(reply) == row.code);
    }

  private:
    std::vector<standin::recorded_row> rows_;
    std::size_t at_ = 0;
};

std::int64_t find_some(wire::client& client, bson::view session = {}) {
    bson::builder b;
    b.string("find", "c").int32("batchSize", 10).append_all(session);
    return cursor_of(ask(client, "w", b.finish()));
}

void fill(standin::replica_set& set) {
    bson::builder docs;
    for (int i = 0; i < 500; ++i) {
        bson::builder doc;
        docs.document(std::to_string(i), doc.int32("_id", i).finish());
    }
    bson::builder b;
    b.string("insert", "c").array("documents", docs.finish());
    REQUIRE(bson::find(set.run("w", b.finish()), "n")->as_int32() == 500);
}

std::vector<std::uint8_t> from_hex(const std::string& text) {
    std::vector<std::uint8_t> out;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
        out.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
    return out;
}

/// The command as the recorded client sent it: a text about missing rights repeats all of it.
bson::document as_sent(const standin::recorded_row& row, const std::string& db) {
    const std::string text(bson::find(*row.reply, "errmsg")->as_string());
    const auto found = [&](const std::string& pattern) {
        std::smatch m;
        REQUIRE(std::regex_search(text, m, std::regex(pattern)));
        return m;
    };
    std::string id = found("UUID\\(\"([0-9a-f-]+)\"\\)")[1];
    std::erase(id, '-');
    const auto time = found("Timestamp\\((\\d+), (\\d+)\\)");
    bson::builder session;
    session.binary("id", 4, from_hex(id));
    bson::builder signature;
    signature.binary("hash", 0, from_hex(found("BinData\\(0, ([0-9A-F]+)\\)")[1]));
    signature.int64("keyId", std::stoll(found("keyId: (\\d+)")[1]));
    bson::builder cluster;
    cluster.timestamp("clusterTime", {static_cast<std::uint32_t>(std::stoul(time[1])),
                                      static_cast<std::uint32_t>(std::stoul(time[2]))});
    cluster.document("signature", signature.finish());
    bson::builder preference;
    preference.string("mode", std::string(found("mode: \"(\\w+)\"")[1]));
    bson::builder b;
    b.append_all(*row.command).document("lsid", session.finish());
    b.document("$clusterTime", cluster.finish()).string("$db", db);
    return b.document("$readPreference", preference.finish()).finish();
}

/// A conversation up to the proof, which is a wrong one.
bson::document authenticate_wrongly(wire::client& client, const std::string& db) {
    const auto payload = [](bson::builder& b, const std::string& text) -> bson::builder& {
        return b.binary("payload", 0,
                        {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    };
    bson::builder start;
    start.int32("saslStart", 1).string("mechanism", "SCRAM-SHA-256");
    payload(start, "n,,n=reader,r=abcdefgh");
    auto reply = ask(client, db, start.finish());
    if (code_of(reply) != 0)
        return reply;
    const auto bytes = bson::find(reply, "payload")->as_binary().bytes;
    const std::string first(bytes.begin(), bytes.end());
    bson::builder go_on;
    go_on.int32("saslContinue", 1).int32("conversationId", 1);
    payload(go_on, "c=biws," + first.substr(0, first.find(',')) +
                       ",p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    return ask(client, db, go_on.finish());
}

void replay_cursors(cursors_replay& r) {
    standin::replica_set set;
    fill(set);
    wire::client client(set.port());
    const auto& find = r.next("find");
    const auto reply = ask(client, "w", *find.command);
    cursors_replay::compare(find, reply);

    const auto& kill = r.next("");
    const std::int64_t killed = cursor_of(reply);
    bson::builder ids;
    const auto list = ids.int64("0", killed).finish();
    bson::builder expected;
    for (bson::cursor c{*kill.reply}; c.next();)
        if (c.name() == "cursorsKilled")
            expected.array("cursorsKilled", list);
        else
            expected.value(c.name(), c);
    check_equal("killCursors", expected.finish(),
                ask(client, "w", with_cursor(*kill.command, killed)), unequal());
    r.ask_for_ended(client, "getMore of a killed cursor", killed);

    const std::int64_t idle = find_some(client);
    CHECK(set.kill_cursor(idle));
    r.ask_for_ended(client, "getMore of a cursor that timed out", idle);

    const auto& stream = r.next("");
    const auto opened = ask(client, "w", *stream.command);
    cursors_replay::compare(stream, opened);
    CHECK(set.kill_cursor(cursor_of(opened)));
    r.ask_for_ended(client, "getMore of a change stream idle longer than cursorTimeoutMillis",
                    cursor_of(opened));

    const auto& kill_session = r.next("");
    bson::builder session;
    session.value("lsid", *bson::find_path(*kill_session.command, "killSessions.0"));
    const bson::document lsid = session.finish();
    const std::int64_t of_session = find_some(client, lsid);
    cursors_replay::compare(kill_session, ask(client, "w", *kill_session.command));
    r.ask_for_ended(client, "getMore after killSessions", of_session, lsid);

    for (const char* note : {"server without JavaScript", "forbidden stage"}) {
        const auto& row = r.next(note);
        cursors_replay::compare(row, ask(client, "w", *row.command));
    }
    r.next("maxTimeMS exceeded");

    const auto& again = r.next("");
    const auto reopened = ask(client, "w", *again.command);
    cursors_replay::compare(again, reopened);
    const auto& failing = r.next("fail point 280");
    CHECK(code_of(ask_json(client, "admin", R"({"configureFailPoint": "failCommand",
        "mode": {"times": 1}, "data": {"failCommands": ["getMore"], "errorCode": 280}})")) == 0);
    const auto more = with_cursor(*failing.command, cursor_of(reopened));
    cursors_replay::compare(failing, ask(client, "w", more));
    CHECK(code_of(ask(client, "w", more)) == 0); // once
}

void replay_rights(cursors_replay& r) {
    standin::replica_set_options options;
    options.users = {{"reader", "secret", {"read@w"}}, {"nobody", "secret", {}}};
    standin::replica_set set(options);
    set.insert("w", "c", standin::from_json(R"({"_id": 0})"));
    wire::client client(set.port());

    const auto& none = r.next("no credentials");
    cursors_replay::compare(none, ask(client, "w", *none.command));
    cursors_replay::compare(r.next("wrong password"), authenticate_wrongly(client, "admin"));
    const auto& stranger = r.next("user without rights");
    cursors_replay::compare(stranger, set.run_as("nobody", "w", as_sent(stranger, "w")));
    const auto& reader = r.next("read on the database");
    cursors_replay::compare(reader, set.run_as("reader", "w", *reader.command));
    const auto& cluster = r.next("cluster stream with read on one database");
    cursors_replay::compare(cluster, set.run_as("reader", "admin", as_sent(cluster, "admin")));
    const auto& oplog = r.next("oplog with read on one database");
    cursors_replay::compare(oplog, set.run_as("reader", "local", as_sent(oplog, "local")));
    const auto& databases = r.next("listDatabases with read on one database");
    cursors_replay::compare(databases, set.run_as("reader", "admin", *databases.command));
    cursors_replay::compare(r.next("wrong authSource"), authenticate_wrongly(client, "w"));
}

} // namespace

TEST_CASE("stand-in: recording cursors_auth", "[standin][recordings]") {
    cursors_replay r;
    replay_cursors(r);
    replay_rights(r);
    CHECK(r.done());
}
