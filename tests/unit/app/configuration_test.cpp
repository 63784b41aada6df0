// SPDX-License-Identifier: Apache-2.0
// Whole configuration files against the tables that the program has: what is read from them.
#include "core/app/load_configuration.hpp"
#include "sinks/file/options.hpp"
#include "tests/unit/app/written.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

using namespace cdc;
using namespace std::chrono_literals;
using cdc::test::mistakes_of;
using cdc::test::options_of;
using cdc::test::strings;
using cdc::test::with;
using cdc::test::written;

TEST_CASE("a configuration has connectors with sinks, in their order", "[app][config]") {
    const written in(R"(
state: {path: ./positions.db}
connectors:
  inventory:
    source: mongodb
    mongodb.connection.string: mongodb://127.0.0.1:27017/?replicaSet=rs0
    topic.prefix: fulfillment
    snapshot.mode: no_data
    capture.mode: change_streams_update_full
    collection.include.list: inventory.customers, inventory.orders
    sinks:
      out: {type: file, path: out/events.jsonl}
      alone: {type: discard}
connectors.second-1_B:
  source: mongodb
  mongodb: {connection: {string: "mongodb://h"}, user: u, password: hunter22}
  topic: {prefix: "2"}
  snapshot: {mode: no_data}
  sinks.x.type: discard
)");
    const auto read = in.good();
    CHECK(read.state_path == in.folder() / "positions.db");
    CHECK(read.file == in.file());
    REQUIRE(read.connectors.size() == 2);
    const auto& first = read.connectors[0];
    CHECK(first.name == "inventory");
    CHECK(first.source == "mongodb");
    REQUIRE(first.sinks.size() == 2);
    CHECK(first.sinks[0].name == "out");
    CHECK(first.sinks[0].type == "file");
    CHECK(file::make_file_options(first.sinks[0].options).path == in.folder() / "out/events.jsonl");
    CHECK(first.sinks[1].type == "discard");
    CHECK(read.connectors[1].name == "second-1_B");
    CHECK(read.connectors[1].options.text("topic.prefix") == "2");
    CHECK(read.secrets ==
          strings{"mongodb://127.0.0.1:27017/?replicaSet=rs0", "mongodb://h", "hunter22"});
}

TEST_CASE("the same configuration as JSON", "[app][config]") {
    const written in(R"({"state":{"path":"memory"},"connectors":{"a":{"source":"mongodb",
        "mongodb.connection.string":"mongodb:\/\/h","topic.prefix":"p","snapshot.mode":"no_data",
        "collection.include.list":["x.y","z.{1,2}"],"max.queue.size":9000,"schemas.enable":false,
        "sinks":{"out":{"type":"file","path":"e.jsonl","fsync":"never","rotate.bytes":"1KiB"}}}}})");
    const auto read = in.good();
    CHECK_FALSE(read.state_path);
    const auto options = mongodb::make_connector_options(read.connectors.at(0).options);
    CHECK(options.collection_include == strings{"x.y", "z.{1,2}"});
    CHECK(options.max_queue_size == 9000);
    CHECK_FALSE(options.schemas_enable);
    const auto sink = file::make_file_options(read.connectors[0].sinks.at(0).options);
    CHECK(sink.fsync == file::fsync_mode::never);
    CHECK(sink.rotate_bytes == 1024);
}

TEST_CASE("state has a default, may be in memory, and memory may be a file", "[app][config]") {
    const auto path = [](const std::string& state) {
        const written in(state + with(""));
        const auto read = in.good().state_path;
        return read ? read->lexically_relative(in.folder()).string() : "nothing";
    };
    CHECK(path("") == "mongocdc.db");
    CHECK(path("state: {path: sub/x.db}\n") == "sub/x.db");
    CHECK(path("state.path: memory\n") == "nothing");
    CHECK(path("state.path: ./memory\n") == "memory");
}

TEST_CASE("the defaults of a connector", "[app][config]") {
    const auto options = options_of("");
    CHECK(options.connection_string == "mongodb://h/?replicaSet=rs0");
    CHECK(options.user.empty());
    CHECK(options.password.empty());
    CHECK(options.auth_source == "admin");
    CHECK(options.connect_timeout == 2000ms);
    CHECK(options.server_selection_timeout == 30000ms);
    CHECK(options.socket_timeout == 60000ms);
    CHECK(options.names.prefix == "p");
    CHECK(options.capture_mode == mongodb::capture_mode::change_streams_update_full);
    CHECK(options.capture_scope == mongodb::capture_scope::deployment);
    CHECK(options.max_await_time == 0ms);
    CHECK(options.collection_include.empty());
    CHECK(options.tombstones_on_delete);
    CHECK(options.max_batch_size == 2048);
    CHECK(options.max_queue_size == 8192);
    CHECK(options.max_queue_bytes == std::size_t{64} << 20);
    CHECK(options.offset_flush_interval == 1000ms);
    CHECK(options.schemas_enable);
    CHECK(options.shutdown_timeout == 10000ms);
    CHECK(options.target_db.empty());
}

TEST_CASE("every option of a connector arrives", "[app][config]") {
    const auto options = options_of("mongodb.connection.string: mongodb+srv://h\n"
                                    "mongodb.user: u\n"
                                    "mongodb.password: 'a1?~!@#$%^&*(){}[]<>.,+_-=/\\|:;'\n"
                                    "mongodb.authsource: other\n"
                                    "mongodb.connect.timeout.ms: 101\n"
                                    "mongodb.server.selection.timeout.ms: 102\n"
                                    "mongodb.socket.timeout.ms: 2103\n"
                                    "capture.mode: change_streams\n"
                                    "capture.scope: collection\n"
                                    "capture.target: db.coll.with.dots\n"
                                    "cursor.max.await.time.ms: 104\n"
                                    "database.exclude.list: a, b\n"
                                    "collection.include.list: [c.d]\n"
                                    "tombstones.on.delete: false\n"
                                    "max.batch.size: 105\n"
                                    "max.queue.size: 106\n"
                                    "max.queue.size.in.bytes: 107\n"
                                    "offset.flush.interval.ms: 108\n"
                                    "schemas.enable: false\n"
                                    "shutdown.timeout.ms: 109\n");
    CHECK(options.connection_string == "mongodb+srv://h");
    CHECK(options.user == "u");
    CHECK(options.password == "a1?~!@#$%^&*(){}[]<>.,+_-=/\\|:;");
    CHECK(options.auth_source == "other");
    CHECK(options.connect_timeout == 101ms);
    CHECK(options.server_selection_timeout == 102ms);
    CHECK(options.socket_timeout == 2103ms);
    CHECK(options.capture_mode == mongodb::capture_mode::change_streams);
    CHECK(options.capture_scope == mongodb::capture_scope::collection);
    CHECK(options.target_db == "db");
    CHECK(options.target_collection == "coll.with.dots");
    CHECK(options.max_await_time == 104ms);
    CHECK(options.database_exclude == strings{"a", "b"});
    CHECK(options.collection_include == strings{"c.d"});
    CHECK_FALSE(options.tombstones_on_delete);
    CHECK(options.max_batch_size == 105);
    CHECK(options.max_queue_size == 106);
    CHECK(options.max_queue_bytes == 107);
    CHECK(options.offset_flush_interval == 108ms);
    CHECK_FALSE(options.schemas_enable);
    CHECK(options.shutdown_timeout == 109ms);

    const auto database = options_of("capture.scope: database\ncapture.target: db");
    CHECK(database.capture_scope == mongodb::capture_scope::database);
    CHECK(database.target_db == "db");
    CHECK(database.target_collection.empty());
}

TEST_CASE("sinks know whether they override schemas.enable", "[app][config]") {
    const auto sink = [](const std::string& text) {
        return written(with("", text)).good().connectors.at(0).sinks.at(0).options;
    };
    CHECK_FALSE(sink("type: discard").has("schemas.enable"));
    CHECK_FALSE(sink("type: discard, schemas.enable: false").boolean("schemas.enable"));
    CHECK(sink("type: file, path: x, schemas.enable: true").boolean("schemas.enable"));
    const auto file = file::make_file_options(
        sink("type: file, path: /x/y, fsync: interval, fsync.interval.ms: 20"));
    CHECK(file.path == "/x/y");
    CHECK(file.fsync == file::fsync_mode::interval);
    CHECK(file.fsync_interval == 20ms);
    CHECK(file.rotate_bytes == 0);
}

TEST_CASE("substituted values work and are never shown", "[app][config]") {
    setenv("MONGOCDC_TEST_VALUE", "hunter22", 1);
    const written in(with("mongodb.connection.string: mongodb://u:${file:secret}@h/\n"
                          "mongodb.user: ${env:MONGOCDC_TEST_VALUE}\n"
                          "mongodb.password: $${${file:secret}\n"
                          "collection.include.list: ['db.${env:MONGOCDC_TEST_VALUE}']"));
    in.also("secret", "hunter22\n");
    const auto options = mongodb::make_connector_options(in.good().connectors.at(0).options);
    CHECK(options.connection_string == "mongodb://u:hunter22@h/");
    CHECK(options.user == "hunter22");
    CHECK(options.password == "${hunter22");
    CHECK(options.collection_include == strings{"db.hunter22"});

    const auto found = mistakes_of("capture.mode: ${env:MONGOCDC_TEST_VALUE}\n"
                                   "max.batch.size: ${env:MONGOCDC_TEST_VALUE}\n"
                                   "collection.include.list: (${env:MONGOCDC_TEST_VALUE}\n"
                                   "mongodb.connection.string: ${env:MONGOCDC_TEST_VALUE}",
                                   "type: '${env:MONGOCDC_TEST_VALUE}'");
    unsetenv("MONGOCDC_TEST_VALUE");
    REQUIRE(found.size() == 5);
    for (const auto& text : found)
        CHECK(text.find("hunter22") == std::string::npos);
    CHECK(found[0].find(R"("${env:MONGOCDC_TEST_VALUE}" (after substitution) is not allowed)") !=
          std::string::npos);
}

TEST_CASE("a file that cannot be read is one mistake", "[app][config]") {
    const test::temp_dir dir;
    const auto kinds = app::make_registry().kinds();
    const auto missing = config::load(dir.path() / "none.yaml", kinds).found.mistakes();
    REQUIRE(missing.size() == 1);
    CHECK(missing[0].text() == "cannot be read: No such file or directory");
    const auto folder = config::load(dir.path(), kinds).found.mistakes();
    REQUIRE(folder.size() == 1);
    CHECK(folder[0].text() == "is a folder, not a configuration file");
    std::ofstream(dir.path() / "large.yaml") << std::string((1 << 20) + 1, '#');
    const auto large = config::load(dir.path() / "large.yaml", kinds).found.mistakes();
    REQUIRE(large.size() == 1);
    CHECK(large[0].text() == "is larger than 1 MiB");
}

TEST_CASE("everything is reported at once, with file and line, without secrets", "[app][config]") {
    const written in("state: {path: }\n"
                     "connectors:\n"
                     "  a:\n"
                     "    source: mongodb\n"
                     "    mongodb.connection.string: mongodb://u:hunter22@@h\n"
                     "    mongodb.pasword: hunter22\n"
                     "    tasks.max: 3\n"
                     "    capture.mode: oplogg\n"
                     "    sinks:\n"
                     "      out: {type: file}\n");
    std::ostringstream err;
    const auto kinds = app::make_registry().kinds();
    CHECK_FALSE(app::load_configuration(in.file(), kinds, err));
    const std::string at = in.file().string();
    const std::string text = err.str();
    for (const std::string& line :
         {at + ":7: warning: connectors.a.tasks.max: is ignored: ",
          at + ":1: state.path: has no value", at + ":5: connectors.a.mongodb.connection.string: ",
          at + ":6: connectors.a.mongodb.pasword: is not a known key; did you mean "
               "\"mongodb.password\"?\n",
          at + ":8: connectors.a.capture.mode: \"oplogg\" is not allowed; allowed: ",
          at + ": connectors.a.topic.prefix: is missing",
          at + ": connectors.a.snapshot.mode: is missing",
          at + ": connectors.a.sinks.out.path: is missing"}) {
        CAPTURE(line);
        CHECK(text.find(line) != std::string::npos);
    }
    CHECK(text.find("hunter22") == std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 8);
}

TEST_CASE("a large configuration loads within a second", "[app][config]") {
    std::string text = "connectors:\n";
    for (int i = 0; text.size() < 900000; ++i) {
        const std::string n = std::to_string(i);
        text +=
            "  c" + n + ":\n    source: mongodb\n    mongodb.connection.string: mongodb://h" + n +
            "\n    topic.prefix: p" + n +
            "\n    snapshot.mode: no_data\n    collection.include.list: a.b, c.d\n    sinks: {o: "
            "{type: file, path: out/" +
            n + ".jsonl}}\n";
    }
    const written in(text);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(in.good().connectors.size() > 3000);
    CHECK(std::chrono::steady_clock::now() - begin < 10s); // Debug and sanitizers on a busy machine
}
