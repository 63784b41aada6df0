// SPDX-License-Identifier: Apache-2.0
// The stand-in's fault knobs, in process: fail points, the oplog's old end, cursors, restarts.
#include "core/bson/builder.hpp"
#include "tests/integration/standin_client.hpp"
#include "tests/support/catch.hpp"

#include <future>

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;
namespace wire = cdc::test::wire;

using namespace cdc::test::standin;

TEST_CASE("stand-in: a fault meets the commands it names, so many times", "[standin][faults]") {
    standin::replica_set set;
    wire::client client(set.port());
    const auto code_of_ping = [&] { return code_of(ask_json(client, "db", R"({"ping": 1})")); };

    standin::command_fault fault;
    fault.commands = {"find", "ping"};
    fault.error_code = 91;
    fault.times = 2;
    set.fail_commands(fault);
    const auto reply = ask_json(client, "db", R"({"ping": 1})");
    CHECK(code_of(reply) == 91);
    CHECK(bson::find(reply, "codeName")->as_string() == "ShutdownInProgress");
    CHECK(bson::find(reply, "errmsg")->as_string() ==
          "Failing command due to 'failCommand' failpoint");
    CHECK(code_of(ask_json(client, "db", R"({"count": "c"})")) == 0);
    CHECK(code_of(set.run_json("db", R"({"ping": 1})")) == 0); // in process nothing fails
    CHECK(code_of(ask_json(client, "db", R"({"find": "c"})")) == 91);
    CHECK(code_of_ping() == 0);
    CHECK(set.faults_met() == 2);

    fault.times.reset();
    fault.skip = 1;
    fault.error_code = 8;
    fault.labels = {"one", "two"};
    fault.message = "as the test wants it";
    set.fail_commands(fault);
    CHECK(code_of_ping() == 0);
    for (int i = 0; i < 3; ++i) {
        const auto failed = ask_json(client, "db", R"({"ping": 1})");
        CHECK(code_of(failed) == 8);
        CHECK(labels_of(failed) == std::vector<std::string>{"one", "two"});
        CHECK(bson::find(failed, "errmsg")->as_string() == "as the test wants it");
    }
    set.end_faults();
    CHECK(code_of_ping() == 0);
}

TEST_CASE("stand-in: a fault labels an error as the server does", "[standin][faults]") {
    standin::replica_set set;
    set.insert("db", "c", standin::from_json(R"({"_id": 1})"));
    wire::client client(set.port());
    standin::command_fault fault;
    fault.commands = {"getMore", "aggregate", "insert", "find"};
    const auto labels = [&](int code, const std::string& command) {
        fault.error_code = code;
        set.fail_commands(fault);
        const auto reply = ask_json(client, "db", command);
        CHECK(code_of(reply) == code);
        set.end_faults();
        return labels_of(reply);
    };
    const std::vector<std::string> none;
    const std::vector<std::string> resumable = {"ResumableChangeStreamError"};
    const std::vector<std::string> not_resumable = {"NonResumableChangeStreamError"};
    const std::string stream = R"({"aggregate": "c", "pipeline": [{"$changeStream": {}}],
        "cursor": {}})";
    CHECK(labels(10107, stream) == resumable);
    CHECK(labels(280, stream) == not_resumable);
    CHECK(labels(43, stream) == none);
    CHECK(labels(10107, R"({"aggregate": "c", "pipeline": [], "cursor": {}})") == none);

    const auto opened = ask_json(client, "db", stream);
    const auto more = R"({"getMore": {"$numberLong": ")" +
                      std::to_string(bson::find_path(opened, "cursor.id")->as_int64()) +
                      R"("}, "collection": "c", "maxTimeMS": 1})";
    CHECK(labels(11600, more) == resumable);
    CHECK(labels(286, more) == not_resumable);
    CHECK(labels(237, more) == none);
    CHECK(code_of(ask_json(client, "db", more)) == 0); // the cursor is still there

    const std::string insert = R"({"insert": "c", "documents": [{}])";
    CHECK(labels(11602, insert + "}") == none);
    CHECK(labels(11602, insert + R"(, "lsid": {"id": {"$uuid":
        "6b0d187f-f4fd-4817-a27a-883ef4fd4817"}}, "txnNumber": {"$numberLong": "1"}})") ==
          std::vector<std::string>{"RetryableWriteError"});
}

TEST_CASE("stand-in: a fault closes connections, also in the handshake", "[standin][faults]") {
    standin::replica_set_options options;
    options.users = {{"u", "p", {"root"}}};
    standin::replica_set set(options);
    standin::command_fault fault;
    fault.commands = {"hello", "saslStart"};
    fault.close_connection = true;
    fault.times = 2;
    set.fail_commands(fault);
    const std::string start = R"({"saslStart": 1, "mechanism": "SCRAM-SHA-256",
        "payload": {"$binary": {"base64": "biwsbj11LHI9YWJj", "subType": "00"}}})";
    {
        wire::client client(set.port());
        CHECK_FALSE(client.command("admin", standin::from_json(R"({"isMaster": 1})")));
    }
    {
        wire::client client(set.port());
        CHECK(client.command("admin", standin::from_json(R"({"ping": 1})")));
        CHECK_FALSE(client.command("admin", standin::from_json(start)));
    }
    // Refused without a cut.
    fault.close_connection = false;
    fault.error_code = 18;
    fault.app_name = "service";
    fault.times.reset();
    set.fail_commands(fault);
    wire::client client(set.port());
    CHECK(code_of(ask_json(client, "admin", start)) == 0);
    CHECK(code_of(ask_json(client, "admin", R"({"isMaster": 1, "client": {"application":
        {"name": "service"}}})")) == 18);
    CHECK(code_of(ask_json(client, "admin", start)) == 18);
}

TEST_CASE("stand-in: a held getMore is answered when the fault ends", "[standin][faults]") {
    standin::replica_set set;
    wire::client client(set.port());
    const auto opened = ask_json(client, "db", stream_on_c);
    set.insert("db", "c", standin::from_json(R"({"_id": 1})"));
    standin::command_fault fault;
    fault.commands = {"getMore"};
    fault.hold = true;
    set.fail_commands(fault);
    auto more = std::async(std::launch::async,
                           [&] { return client.command("db", get_more_of(opened, 60'000)); });
    REQUIRE(eventually([&] { return set.faults_met() == 1; }));
    CHECK(more.wait_for(std::chrono::milliseconds(0)) == std::future_status::timeout);
    set.end_faults();
    const auto read = more.get();
    REQUIRE(read);
    CHECK(count_in(*read) == 1);

    // A held write whose client goes is not done.
    fault.commands = {"insert"};
    set.fail_commands(fault);
    {
        wire::client gone(set.port());
        gone.send(standin::from_json(R"({"insert": "c", "documents": [{}], "$db": "db"})"));
        REQUIRE(eventually([&] { return set.faults_met() == 2; }));
    }
    REQUIRE(eventually([&] { return set.open_connections() == 1; }));
    set.end_faults();
    CHECK(count_in(ask(client, "db", get_more_of(opened, 1))) == 0);

    // For a time.
    fault.commands = {"getMore"};
    fault.hold = false;
    fault.block = std::chrono::milliseconds(30);
    fault.error_code = 50;
    set.fail_commands(fault);
    const auto before = std::chrono::steady_clock::now();
    CHECK(code_of(ask(client, "db", get_more_of(opened, 60'000))) == 50);
    CHECK(std::chrono::steady_clock::now() - before >= fault.block);
}

TEST_CASE("stand-in: the oplog's old end goes when told", "[standin][faults]") {
    standin::replica_set set;
    wire::client client(set.port());
    const auto behind = ask_json(client, "db", stream_on_c);
    for (int i = 0; i < 10; ++i) {
        bson::builder b;
        set.insert("db", "c", b.int32("_id", i).finish());
    }
    const auto at_end = ask_json(client, "db", stream_on_c);
    const auto middle = set.last_time();
    for (int i = 10; i < 20; ++i) {
        bson::builder b;
        set.insert("db", "c", b.int32("_id", i).finish());
    }
    set.drop_oplog_before(middle);
    CHECK(set.oldest_time() == middle);
    CHECK(code_of(ask(client, "db", get_more_of(behind, 1))) == 136);
    CHECK(count_in(ask(client, "db", get_more_of(at_end, 1))) == 10);
    set.keep_last(3);
    CHECK(set.oldest_time() > middle);
    CHECK(count_in(ask(client, "db", get_more_of(at_end, 1))) == 0); // it had read them
    set.keep_last(0);
    CHECK(set.oldest_time() == set.last_time());
}

TEST_CASE("stand-in: cursors are killed one by one and all at once", "[standin][faults]") {
    standin::replica_set set;
    wire::client client(set.port());
    const auto one = ask_json(client, "db", stream_on_c);
    const auto two = ask_json(client, "db", stream_on_c);
    CHECK(set.open_cursors() == 2);
    CHECK(set.kill_cursor(cursor_of(one)));
    CHECK_FALSE(set.kill_cursor(cursor_of(one)));
    CHECK(code_of(ask(client, "db", get_more_of(one, 1))) == 43);
    CHECK(code_of(ask(client, "db", get_more_of(two, 1))) == 0);
    auto waiting = std::async(std::launch::async,
                              [&] { return client.command("db", get_more_of(two, 60'000)); });
    REQUIRE(eventually([&] { return set.counts().commands["getMore"].as_primary == 3; }));
    CHECK(set.kill_cursors() == 1);
    const auto killed = waiting.get();
    REQUIRE(killed);
    CHECK(code_of(*killed) == 237);
    CHECK(set.open_cursors() == 0);
}

TEST_CASE("stand-in: a member comes back on its port with the data", "[standin][faults]") {
    standin::replica_set set;
    set.insert("db", "c", standin::from_json(R"({"_id": 1})"));
    wire::client client(set.port());
    const auto hello = ask_json(client, "admin", R"({"isMaster": 1})");
    const auto opened = ask_json(client, "db", stream_on_c);
    client.send(with_db("db", get_more_of(opened, 60'000)));
    REQUIRE(eventually([&] { return set.counts().commands["getMore"].as_primary == 1; }));

    set.stop_member();
    CHECK_FALSE(client.receive());
    CHECK_THROWS(wire::client(set.port()));
    CHECK(set.open_cursors() == 0);
    CHECK(eventually([&] { return set.open_connections() == 0; }));
    CHECK_FALSE(set.primary());

    set.start_member();
    CHECK(set.primary() == 0);
    wire::client again(set.port());
    CHECK(code_of(ask(again, "db", get_more_of(opened, 1))) == 43);
    CHECK(bson::find(ask_json(again, "db", R"({"count": "c"})"), "n")->as_int32() == 1);
    const auto next = ask_json(again, "admin", R"({"isMaster": 1})");
    CHECK(bson::find(next, "ismaster")->as_bool());
    CHECK_FALSE(std::ranges::equal(bson::find_path(hello, "topologyVersion.processId")->as_oid(),
                                   bson::find_path(next, "topologyVersion.processId")->as_oid()));
    // It has been elected again, and the history says so.
    CHECK(bson::find_path(next, "lastWrite.opTime.t")->as_int64() == 2);
}

TEST_CASE("stand-in: a member that shuts down ends what waits", "[standin][faults]") {
    standin::replica_set set;
    wire::client client(set.port());
    const auto opened = ask_json(client, "db", stream_on_c);
    client.send(with_db("db", get_more_of(opened, 60'000)));
    REQUIRE(eventually([&] { return set.counts().commands["getMore"].as_primary == 1; }));
    set.stop_member(0, ending::shut_down);
    const auto last = client.receive();
    REQUIRE(last);
    CHECK(code_of(*last) == 11600);
    CHECK(labels_of(*last) == std::vector<std::string>{"ResumableChangeStreamError"});
    CHECK_FALSE(client.receive());
    set.start_member();
    CHECK(code_of(set.run_json("db", R"({"ping": 1})")) == 0);
}
