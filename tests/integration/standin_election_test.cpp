// SPDX-License-Identifier: Apache-2.0
// Stand-in sets of three members: roles, elections, members that go and come back.
#include "core/bson/builder.hpp"
#include "tests/integration/standin_client.hpp"
#include "tests/support/catch.hpp"

#include <future>

namespace bson = cdc::bson;
namespace standin = cdc::test::standin;
namespace wire = cdc::test::wire;

using namespace cdc::test::standin;

namespace {

replica_set_options three() {
    replica_set_options out;
    out.members = 3;
    return out;
}

std::int64_t counter_of(bson::view hello) {
    return bson::find_path(hello, "topologyVersion.counter")->as_int64();
}

bson::document awaited_hello(bson::view known) {
    bson::builder b;
    b.int32("isMaster", 1).value("topologyVersion", *bson::find(known, "topologyVersion"));
    return b.int32("maxAwaitTimeMS", 60'000).string("$db", "admin").finish();
}

const std::string hello = R"({"isMaster": 1})";
const std::string insert = R"({"insert": "c", "documents": [{}]})";
const std::string on_secondary = R"(, "$readPreference": {"mode": "secondaryPreferred"}})";

} // namespace

TEST_CASE("stand-in: three members with a role each", "[standin][election]") {
    standin::replica_set set(three());
    CHECK(set.members() == 3);
    CHECK(set.primary() == 0);
    CHECK(set.uri() == "mongodb://" + set.host_port(0) + "," + set.host_port(1) + "," +
                           set.host_port(2) + "/?replicaSet=rs0");
    for (std::size_t i = 0; i < 3; ++i) {
        wire::client client(set.port(i));
        const auto reply = ask_json(client, "admin", hello);
        CHECK(bson::find(reply, "ismaster")->as_bool() == (i == 0));
        CHECK(bson::find(reply, "secondary")->as_bool() == (i != 0));
        CHECK(bson::find(reply, "primary")->as_string() == set.host_port(0));
        CHECK(bson::find(reply, "me")->as_string() == set.host_port(i));
        CHECK(bson::find(reply, "electionId").has_value() == (i == 0));
        for (std::size_t n = 0; n < 3; ++n)
            CHECK(bson::find_path(reply, "hosts." + std::to_string(n))->as_string() ==
                  set.host_port(n));
    }
}

TEST_CASE("stand-in: secondaries refuse writes, and reads that did not opt in",
          "[standin][election]") {
    auto options = three();
    options.version = GENERATE("4.4.0", "6.0.0");
    const bool old = options.version == "4.4.0";
    standin::replica_set set(options);
    set.insert("db", "c", standin::from_json(R"({"_id": 1})"));
    wire::client client(set.port(1));
    const auto write = ask_json(client, "db", insert);
    CHECK(code_of(write) == 10107);
    CHECK(bson::find(write, "errmsg")->as_string() == (old ? "not master" : "not primary"));
    CHECK(bson::cursor(write).next());
    CHECK(bson::find(write, "topologyVersion"));
    CHECK(code_of(ask_json(client, "admin", R"({"renameCollection": "db.c", "to": "db.d"})")) ==
          10107);
    const std::vector<std::pair<std::string, std::string>> reads = {
        {"db", R"({"find": "c")"},
        {"db", R"({"count": "c")"},
        {"db", R"({"listCollections": 1)"},
        {"admin", R"({"listDatabases": 1)"},
        {"db", R"({"aggregate": "c", "pipeline": [{"$changeStream": {}}], "cursor": {})"}};
    for (const auto& [db, read] : reads) {
        INFO(read);
        const std::string on_primary = R"(, "$readPreference": {"mode": "primary"}})";
        CHECK(code_of(ask_json(client, db, read + "}")) == 13435);
        CHECK(code_of(ask_json(client, db, read + on_primary)) == 13435);
        CHECK(code_of(ask_json(client, db, read + on_secondary)) == 0);
    }
    for (const char* always : {R"({"ping": 1})", R"({"killCursors": "c", "cursors": []})"})
        CHECK(code_of(ask_json(client, "db", always)) == 0);

    // A stream on a secondary sees what the primary writes.
    const auto opened = ask_json(client, "db",
                                 R"({"aggregate": "c",
        "pipeline": [{"$changeStream": {}}], "cursor": {})" +
                                     on_secondary);
    set.insert("db", "c", standin::from_json(R"({"_id": 2})"));
    CHECK(count_in(ask(client, "db", get_more_of(opened, 60'000))) == 1);
}

TEST_CASE("stand-in: a step-down elects another and interrupts no getMore", "[standin][election]") {
    standin::replica_set set(three());
    wire::client reader(set.port(0));
    const auto opened = ask_json(reader, "db", stream_on_c);
    const auto more = with_db("db", get_more_of(opened, 60'000));
    reader.send(more);
    REQUIRE(eventually([&] { return set.counts(0).commands["getMore"].as_primary == 1; }));

    wire::client watcher(set.port(0));
    const auto before = ask_json(watcher, "admin", hello);
    watcher.send(awaited_hello(before));
    set.step_down();
    CHECK(set.primary() == 1);
    const auto after = watcher.receive(); // it was woken
    REQUIRE(after);
    CHECK(counter_of(*after) > counter_of(before));
    CHECK_FALSE(bson::find(*after, "ismaster")->as_bool());
    CHECK(bson::find(*after, "primary")->as_string() == set.host_port(1));

    // The cursor of the old primary goes on, on what is now a secondary.
    set.insert("db", "c", standin::from_json(R"({"_id": 1})"));
    const auto reply = reader.receive();
    REQUIRE(reply);
    CHECK(count_in(*reply) == 1);
    set.insert("db", "c", standin::from_json(R"({"_id": 2})"));
    CHECK(count_in(ask(reader, "db", get_more_of(opened, 60'000))) == 1);
    CHECK(set.counts(0).commands["getMore"].as_primary == 1);
    CHECK(set.counts(0).commands["getMore"].as_secondary == 1);
    CHECK(code_of(ask_json(reader, "db", insert)) == 10107);

    wire::client writer(set.port(1));
    CHECK(code_of(ask_json(writer, "db", insert)) == 0);
    const auto primary = ask_json(writer, "admin", hello);
    const auto id = bson::find(primary, "electionId")->as_oid();
    CHECK(id[0] == 0x7f);
    CHECK(id[11] == 2);
}

TEST_CASE("stand-in: no election while they are held or delayed", "[standin][election]") {
    standin::replica_set set(three());
    set.hold_elections(true);
    set.step_down();
    CHECK_FALSE(set.primary());
    wire::client client(set.port(0));
    const auto lonely = ask_json(client, "admin", hello);
    CHECK_FALSE(bson::find(lonely, "primary"));
    CHECK(bson::find(lonely, "secondary")->as_bool());
    CHECK(code_of(set.run_json("db", insert)) == 10107);
    CHECK_THROWS_AS(set.step_down(), std::logic_error);
    set.elect(2);
    CHECK(set.primary() == 2);
    set.hold_elections(false);
    CHECK(set.primary() == 2);

    auto options = three();
    options.election_delay = std::chrono::milliseconds(20);
    standin::replica_set slow(options);
    slow.step_down();
    CHECK(eventually([&] { return slow.primary() == 1; }));

    // A set of one elects itself again when its time is over.
    standin::replica_set one;
    CHECK(code_of(one.run_json("admin", R"({"replSetStepDown": 1})")) == 262);
    CHECK(one.primary() == 0);
    CHECK(code_of(one.run_json("admin", R"({"replSetStepDown": 1, "force": true})")) == 0);
    CHECK_FALSE(one.primary());
    CHECK(eventually([&] { return one.primary() == 0; }));
}

TEST_CASE("stand-in: members that go, and a set without a majority", "[standin][election]") {
    standin::replica_set set(three());
    wire::client watcher(set.port(1));
    const auto before = ask_json(watcher, "admin", hello);
    watcher.send(awaited_hello(before));
    wire::client client(set.port(0));
    const auto opened = ask_json(client, "db", stream_on_c);
    client.send(with_db("db", get_more_of(opened, 60'000)));
    REQUIRE(eventually([&] { return set.counts(0).commands["getMore"].as_primary == 1; }));
    set.stop_member(0);
    CHECK_FALSE(client.receive());
    CHECK(set.primary() == 1);
    const auto elected = watcher.receive();
    REQUIRE(elected);
    CHECK(bson::find(*elected, "ismaster")->as_bool());
    CHECK(code_of(set.run_json("db", insert)) == 0);

    // The last of three is no primary, even when it was.
    set.stop_member(2, ending::shut_down);
    CHECK_FALSE(set.primary());
    const auto alone = ask_json(watcher, "admin", hello);
    CHECK(bson::find(alone, "secondary")->as_bool());
    CHECK(code_of(ask_json(watcher, "db", insert)) == 10107);
    CHECK(code_of(ask_json(watcher, "db",
                           R"({"aggregate": "c",
        "pipeline": [{"$changeStream": {}}], "cursor": {})" +
                               on_secondary)) == 0);

    set.start_member(0);
    REQUIRE(set.primary());
    CHECK(code_of(set.run_json("db", insert)) == 0);
    set.start_member(2);
    wire::client back(set.port(2));
    const auto reply = ask_json(back, "admin", hello);
    CHECK(bson::find(reply, "primary")->as_string() == set.host_port(*set.primary()));
    CHECK(counter_of(reply) == 4); // of a process that has just come up
}

TEST_CASE("stand-in: the primary shuts down orderly", "[standin][election]") {
    standin::replica_set set(three());
    wire::client client(set.port(0));
    const auto opened = ask_json(client, "db", stream_on_c);
    client.send(with_db("db", get_more_of(opened, 60'000)));
    REQUIRE(eventually([&] { return set.counts(0).commands["getMore"].as_primary == 1; }));
    wire::client admin(set.port(0));
    CHECK_FALSE(admin.command("admin", standin::from_json(R"({"shutdown": 1})")));
    const auto last = client.receive();
    REQUIRE(last);
    CHECK(code_of(*last) == 11600);
    CHECK(bson::find(*last, "errmsg")->as_string() ==
          "Error in $cursor stage :: caused by :: interrupted at shutdown");
    CHECK(labels_of(*last) == std::vector<std::string>{"ResumableChangeStreamError"});
    CHECK_FALSE(client.receive());
    CHECK(set.primary() == 1);
    CHECK_THROWS(wire::client(set.port(0)));
}

TEST_CASE("stand-in: a set that ends while much is waiting", "[standin][election]") {
    std::vector<std::unique_ptr<wire::client>> clients;
    auto options = three();
    options.election_delay = std::chrono::hours(1);
    auto set = std::make_unique<standin::replica_set>(options);
    for (std::size_t i = 0; i < 3; ++i) {
        clients.push_back(std::make_unique<wire::client>(set->port(i)));
        const auto reply = ask_json(*clients.back(), "admin", hello);
        clients.back()->send(awaited_hello(reply));
    }
    set->step_down(std::chrono::hours(1));
    standin::command_fault fault;
    fault.commands = {"ping"};
    fault.hold = true;
    set->fail_commands(fault);
    wire::client held(set->port(1));
    held.send(standin::from_json(R"({"ping": 1, "$db": "admin"})"));
    REQUIRE(eventually([&] { return set->faults_met() == 1; }));
    set.reset();
    CHECK_FALSE(held.receive());
}
