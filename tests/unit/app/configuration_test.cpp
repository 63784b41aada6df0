// SPDX-License-Identifier: Apache-2.0
// Whole configuration files against the tables that the program has.
#include "core/app/load_configuration.hpp"
#include "core/app/registry.hpp"
#include "sinks/file/options.hpp"
#include "sources/mongodb/options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_data.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace cdc;
using namespace std::chrono_literals;
using strings = std::vector<std::string>;

namespace {

/// A configuration file in a folder of its own.
class written {
  public:
    explicit written(const std::string& text) { std::ofstream(file()) << text; }
    std::filesystem::path file() const { return dir_.path() / "config.yaml"; }
    std::filesystem::path folder() const { return dir_.path(); }
    void also(const std::string& name, const std::string& text) const {
        std::ofstream(dir_.path() / name) << text;
    }

    config::loaded load() const { return config::load(file(), app::make_registry().kinds()); }
    config::configuration good() const {
        auto loaded = load();
        for (const auto& m : loaded.found.mistakes())
            FAIL_CHECK(m.text());
        REQUIRE(loaded.result);
        return *loaded.result;
    }
    strings mistakes() const {
        const auto loaded = load();
        CHECK(loaded.result.has_value() == loaded.found.mistakes().empty());
        strings out;
        for (const auto& m : loaded.found.mistakes())
            out.push_back(m.text());
        return out;
    }

  private:
    test::temp_dir dir_;
};

/// A good file with a connector `a`; `options` (lines "key: value") and `sink` are put in.
std::string with(const std::string& options, const std::string& sink = "type: discard") {
    std::istringstream in(options);
    std::string out = "connectors:\n  a:\n    source: mongodb\n";
    const auto add = [&](const std::string& key, const std::string& line) {
        if (("\n" + options).find("\n" + key) == std::string::npos)
            out += "    " + line + "\n";
    };
    add("mongodb.connection.string", "mongodb.connection.string: mongodb://h/?replicaSet=rs0");
    add("topic.prefix", "topic.prefix: p");
    add("snapshot.mode", "snapshot.mode: no_data");
    for (std::string line; std::getline(in, line);)
        out += "    " + line + "\n";
    return out + "    sinks:\n      out: {" + sink + "}\n";
}

mongodb::connector_options options_of(const std::string& options) {
    return mongodb::make_connector_options(written(with(options)).good().connectors.at(0).options);
}

strings mistakes_of(const std::string& options, const std::string& sink = "type: discard") {
    return written(with(options, sink)).mistakes();
}

} // namespace

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
    CHECK(options.topic_prefix == "p");
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

TEST_CASE("mistakes in the options of a connector", "[app][config]") {
    const auto [options, wanted] = GENERATE(table<std::string, std::string>({
        {"capture.mode: oplogg",
         R"(capture.mode: "oplogg" is not allowed; allowed: change_streams, change_streams_update_full)"},
        {"capture.mode: oplog",
         R"(capture.mode: "oplog" reads the oplog, which is not supported yet;)"},
        {"capture.mode: change_streams_with_pre_image",
         "needs pre-images, which are not supported yet"},
        {"capture.mode: change_stream", R"(did you mean "change_streams"?)"},
        {"snapshot.mode: initial",
         R"(snapshot.mode: "initial" copies existing documents, which is)"},
        {"snapshot.mode: never", R"(snapshot.mode: "never" is an old name, use no_data)"},
        {"snapshot.mode: x", R"(snapshot.mode: "x" is not allowed; allowed: no_data)"},
        {"topic.prefix: a b",
         R"(topic.prefix: "a b" is not allowed; allowed: letters, digits, _ . and -)"},
        {"topic.prefix: ü", "topic.prefix: \"ü\" is not allowed"},
        {"topic.prefix:", "topic.prefix: has no value"},
        {"max.queue.size: 0", R"(max.queue.size: "0" would be a queue that takes nothing)"},
        {"max.queue.size: -1", R"(max.queue.size: "-1" is out of range)"},
        {"max.queue.size: 2048", "max.queue.size: is not larger than max.batch.size (2048)"},
        {"max.queue.size.in.bytes: 0", R"("0" would be a queue without a limit)"},
        {"max.queue.size.in.bytes: 1MB", R"("1MB" is not a size)"},
        {"offset.flush.interval.ms: 1s", R"("1s" is not an integer)"},
        {"tombstones.on.delete: yes", R"("yes" is not a boolean; allowed: true, false)"},
        {"database.include.list: a\ndatabase.exclude.list: b",
         "database.exclude.list: cannot be together with database.include.list"},
        {"collection.include.list: a\ncollection.exclude.list: b",
         "collection.exclude.list: cannot be together with collection.include.list"},
        {"collection.include.list: 'a.b, c.(d'",
         R"(collection.include.list: "a.b, c.(d" (item 2) is not a regular expression: )"},
        {"collection.include.list: []", "collection.include.list: names nothing"},
        {"database.exclude.list: ' , '", "names nothing"},
        {"capture.scope: database",
         "capture.target: is missing: capture.scope is database; allowed: db"},
        {"capture.scope: collection", "capture.target: is missing: capture.scope is collection"},
        {"capture.scope: database\ncapture.target: a.b", "capture.target: holds a dot"},
        {"capture.scope: collection\ncapture.target: a", "capture.target: is not a collection"},
        {"capture.scope: collection\ncapture.target: .a", "capture.target: is not a collection"},
        {"capture.scope: collection\ncapture.target: a.", "capture.target: is not a collection"},
        {"capture.scope: database\ncapture.target: admin", "which is never captured"},
        {"capture.target: a", "capture.target: has no meaning with capture.scope deployment"},
        {"capture.scope: all",
         R"("all" is not allowed; allowed: deployment, database, collection)"},
        {"mongodb.socket.timeout.ms: 0", R"("0" is out of range)"},
        {"mongodb.socket.timeout.ms: 5000\ncursor.max.await.time.ms: 4001",
         "mongodb.socket.timeout.ms: is too short: a reply may rightly take "
         "cursor.max.await.time.ms; "
         "allowed: 5001 or more"},
        {"mongodb.password: hunter22", "mongodb.user: is missing: mongodb.password is given"},
        {"mongodb.hosts: rs0/hunter22",
         "mongodb.hosts: is an old name, use mongodb.connection.string"},
        {"collection.whitelist: x",
         "collection.whitelist: is an old name, use collection.include.list"},
        {"connect.max.attempts: 3", "is an option of old versions that no longer exists"},
        {"signal.data.collection: a.b", "signal.data.collection: is known, but not supported yet"},
        {"snapshot.collection.filter.overrides.a.b: x", "is known, but not supported yet"},
        {"skipped.operations: u",
         "skipped.operations: is known, but not supported yet; leave it out; "
         "allowed: none, t"},
        {"topic.delimiter: _", "is known, but not supported yet"},
        {"filters.match.mode: literal", "is known, but not supported yet"},
        {"mongodb.ssl.enabled: true", "TLS is set in mongodb.connection.string"},
        {"topic.prefixx: x", R"(topic.prefixx: is not a known key; did you mean "topic.prefix"?)"},
        {"sink.out.type: file", R"(sink: is not a known key; did you mean "sinks"?)"},
        {"nonsense.key: 1", "nonsense.key: is not a known key"},
        {"topic.prefix: {x: 1}", "topic.prefix.x: is not a known key"},
        {"topic.prefix: [a]", R"(topic.prefix: "a" is a list, not one value)"},
        {"topic.prefix: ${env:MONGOCDC_NOT_SET}",
         "topic.prefix: refers to the environment variable MONGOCDC_NOT_SET, which is not set"},
        {"topic.prefix: ${file:missing}",
         "topic.prefix: refers to the file missing, which is not there"},
    }));
    CAPTURE(options);
    const auto found = mistakes_of(options);
    REQUIRE_FALSE(found.empty());
    bool seen = false;
    for (const auto& text : found) {
        CAPTURE(text);
        CHECK(text.find("connectors.a.") == 0);
        CHECK(text.find("hunter22") == std::string::npos);
        seen = seen || text.find(wanted) != std::string::npos;
    }
    CHECK(seen);
    if (options.find("topic.prefix: {") == std::string::npos)
        CHECK(found.size() == 1);
}

TEST_CASE("mistakes in connection strings do not show them", "[app][config]") {
    const auto [uri, wanted] = GENERATE(table<std::string, std::string>({
        {"http://hunter22", "does not begin with mongodb:// or mongodb+srv://"},
        {"hunter22:27017", "does not begin with mongodb:// or mongodb+srv://"},
        {"mongodb://hunter22:p@ss@h/", "percent-encoded: write @ as %40"},
        {"mongodb://u:hunter22%zz@h/", "percent-encoded: write @ as %40"},
        {"mongodb://u:hunter22%4@h/", "percent-encoded: write @ as %40"},
        {"mongodb://u:hunter:22@h/", "percent-encoded: write @ as %40"},
        {"mongodb://u:hunter22/x@h/", "percent-encoded: write @ as %40"},
        {"mongodb://u:hunter22?x@h/", "percent-encoded: write @ as %40"},
        {"mongodb://:hunter22@h/", "holds an empty user name"},
        {"mongodb://u:hunter22 @h/", "holds a blank or control character"},
        {"mongodb://", "names no host"},
        {"mongodb://u:hunter22@/", "names no host"},
        {"mongodb://h1,,h2/", "names an empty host"},
        {"mongodb://h:0/", "names a port that is not a number from 1 to 65535"},
        {"mongodb://h:65536/", "names a port that is not a number from 1 to 65535"},
        {"mongodb://h:port/", "names a port that is not a number from 1 to 65535"},
        {"mongodb://[::1]:x/", "names a port that is not a number from 1 to 65535"},
        {"mongodb+srv://h:1/", "names a port, which mongodb+srv:// does not allow"},
        {"mongodb+srv://h,i/", "names more than one host"},
    }));
    CAPTURE(uri);
    const auto found = mistakes_of("mongodb.connection.string: '" + uri + "'");
    REQUIRE(found.size() == 1);
    CHECK(found[0].find(R"(connectors.a.mongodb.connection.string: "***" )") == 0);
    CHECK(found[0].find(wanted) != std::string::npos);
    CHECK(found[0].find("hunter") == std::string::npos);
}

TEST_CASE("good connection strings pass", "[app][config]") {
    const std::string uri = GENERATE(
        "mongodb://h", "mongodb://h/", "mongodb://h:1,i:2,j/db?replicaSet=rs0", "mongodb://u@h",
        "mongodb://u:p%40ss%25@h/?authSource=x", "mongodb://u:@h", "mongodb://[::1]",
        "mongodb://[fe80::1]:27017,h/", "mongodb+srv://u:p@cluster.example.net/?x=y",
        "mongodb://u:p%3Ax@h/?authMechanismProperties=a:b@c", "mongodb://h?replicaSet=rs0");
    CAPTURE(uri);
    CHECK(mistakes_of("mongodb.connection.string: '" + uri + "'").empty());
}

TEST_CASE("values that ask for what happens anyway are no mistake", "[app][config]") {
    const std::string line =
        GENERATE("skipped.operations: none", "skipped.operations: t", "topic.delimiter: .",
                 "filters.match.mode: regex", "provide.transaction.metadata: false",
                 "heartbeat.interval.ms: 0", "json.serialization.mode: legacy");
    CAPTURE(line);
    CHECK(mistakes_of(line).empty());
}

TEST_CASE("keys of Kafka Connect are warned about", "[app][config]") {
    const std::string key =
        GENERATE("connector.class", "tasks.max", "key.converter", "value.converter.schemas.enable",
                 "header.converter", "name", "poll.interval.ms");
    const auto loaded = written(with(key + ": hunter22")).load();
    CHECK(loaded.found.mistakes().empty());
    REQUIRE(loaded.found.warnings().size() == 1);
    CHECK(loaded.found.warnings()[0].text().find("connectors.a." + key + ": is ignored: ") == 0);
    CHECK(loaded.found.warnings()[0].text().find("hunter22") == std::string::npos);
}

TEST_CASE("mistakes of sinks", "[app][config]") {
    const auto [sink, wanted] = GENERATE(table<std::string, std::string>({
        {"type: fil",
         R"(sinks.out.type: "fil" is not allowed; allowed: file, discard; did you mean "file"?)"},
        {"path: x", "sinks.out.type: is missing; allowed: file, discard"},
        {"type: [file]", R"(sinks.out.type: "file" is not a text; allowed: file, discard)"},
        {"type: file", "sinks.out.path: is missing"},
        {"type: file, path: .", "sinks.out.path: \".\" is a folder, not a file"},
        {"type: file, path: x/", "sinks.out.path: \"x/\" is a folder, not a file"},
        {"type: file, path: x, fsync: always",
         R"(sinks.out.fsync: "always" is not allowed; allowed: batch, interval, never)"},
        {"type: file, path: x, fsync.interval.ms: 5",
         "sinks.out.fsync.interval.ms: has no meaning without fsync: interval"},
        {"type: file, path: x, fsync: interval, fsync.interval.ms: 0", R"("0" is out of range)"},
        {"type: file, path: x, rotate.byte: 5", R"(did you mean "rotate.bytes"?)"},
        {"type: discard, path: x", "sinks.out.path: is not a known key"},
        {"type: discard, schemas.enable: 1", R"(sinks.out.schemas.enable: "1" is not a boolean)"},
    }));
    CAPTURE(sink);
    const auto found = mistakes_of("", sink);
    REQUIRE(found.size() == 1);
    CHECK(found[0].find("connectors.a.") == 0);
    CHECK(found[0].find(wanted) != std::string::npos);
}

TEST_CASE("a file belongs to one sink", "[app][config]") {
    const std::string sinks = GENERATE("      x: {type: file, path: out/e.jsonl}\n"
                                       "      y: {type: file, path: ./out/../out/e.jsonl}\n",
                                       "      x: {type: file, path: link/e.jsonl}\n"
                                       "      y: {type: file, path: out/e.jsonl}\n");
    const written in(with("") + sinks);
    std::filesystem::create_directory(in.folder() / "out");
    std::filesystem::create_directory_symlink(in.folder() / "out", in.folder() / "link");
    CHECK(
        in.mistakes() ==
        strings{"connectors.a.sinks.y.path: is the same as connectors.a.sinks.x.path: only one may "
                "use it"});
}

TEST_CASE("a file belongs to one sink of all connectors, and not to the state", "[app][config]") {
    const std::string a = with("", "type: file, path: e.jsonl");
    std::string b = a.substr(std::string("connectors:\n").size());
    b.replace(b.find("a:"), 2, "b:");
    CHECK(
        written(a + b).mistakes() ==
        strings{"connectors.b.sinks.out.path: is the same as connectors.a.sinks.out.path: only one "
                "may use it"});
    CHECK(written(with("", "type: file, path: mongocdc.db")).mistakes() ==
          strings{"connectors.a.sinks.out.path: is the same as state.path: only one may use it"});
}

TEST_CASE("mistakes in the shape of the file", "[app][config]") {
    const auto [text, wanted] = GENERATE(table<std::string, strings>({
        {"", {"connectors: is missing"}},
        {"connectors:", {"connectors: is missing"}},
        {"connectors: {}", {"connectors: is missing"}},
        {"connectors: [a]", {"connectors: is not a mapping of connector names to their options"}},
        {"connectors: text", {"connectors: is not a mapping of connector names to their options"}},
        {"connectors: {a: text}",
         {"connectors.a: is not a mapping", "connectors.a.source: is missing; allowed: mongodb",
          "connectors.a.sinks: is missing"}},
        {"connectors: {a: {}}",
         {"connectors.a.source: is missing; allowed: mongodb", "connectors.a.sinks: is missing"}},
        {"connectors: {a: }",
         {"connectors.a.source: is missing; allowed: mongodb", "connectors.a.sinks: is missing"}},
        {"connectors: {'a b': {source: mongodb}}",
         {"connectors.a...: is not a connector name; allowed: letters, digits, _ and -"}},
        {"connectors: {ä: {source: mongodb, topic.prefix: x}}", {"is not a connector name"}},
        {"conectors: {a: {source: x, y: z}}",
         {R"(conectors: is not a known key; allowed: state, connectors; did you mean "connectors"?)"}},
        {"[]", {"is not a mapping of keys to values"}},
        {"a: [", {"is not valid YAML"}},
    }));
    CAPTURE(text);
    const auto found = written(text).mistakes();
    CAPTURE(found);
    REQUIRE(found.size() >= wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        CHECK(found[i].find(wanted[i]) != std::string::npos);
}

TEST_CASE("mistakes beside a good connector", "[app][config]") {
    const auto [more, wanted] = GENERATE(table<std::string, std::string>({
        {"state.path:", "state.path: has no value"},
        {"state: {pth: x}", R"(state.pth: is not a known key; did you mean "state.path"?)"},
        {"state: x", R"(state: is not a known key)"},
        {"stat.path: x",
         R"(stat: is not a known key; allowed: state, connectors; did you mean "state"?)"},
        {"connectors.b.source: mongo",
         R"(connectors.b.source: "mongo" is not allowed; allowed: mongodb; did you mean "mongodb"?)"},
        {"connectors.a.sinks.out.type: discard",
         "connectors.a.sinks.out.type: is given twice, first in line "},
        {"connectors.a.topic: {prefix: q}", "connectors.a.topic.prefix: is given twice"},
        {"connectors.a.sinks.o/t.type: discard", "connectors.a.sinks.o...: is not a sink name"},
        {"connectors.a.sinks.x: text", "connectors.a.sinks.x: is not a mapping"},
    }));
    CAPTURE(more);
    const auto found = written(with("") + more + "\n").mistakes();
    CAPTURE(found);
    REQUIRE_FALSE(found.empty());
    bool seen = false;
    for (const auto& text : found)
        seen = seen || text.find(wanted) == 0;
    CHECK(seen);
}

TEST_CASE("substituted values work and are never shown", "[app][config]") {
    setenv("MONGOCDC_TEST_VALUE", "hunter22", 1);
    const written in(with("mongodb.connection.string: mongodb://u:${file:secret}@h/\n"
                          "mongodb.user: ${env:MONGOCDC_TEST_VALUE}\n"
                          "mongodb.password: $${${file:secret}\n"
                          "collection.include.list: ['${env:MONGOCDC_TEST_VALUE}']"));
    in.also("secret", "hunter22\n");
    const auto options = mongodb::make_connector_options(in.good().connectors.at(0).options);
    CHECK(options.connection_string == "mongodb://u:hunter22@h/");
    CHECK(options.user == "hunter22");
    CHECK(options.password == "${hunter22");
    CHECK(options.collection_include == strings{"hunter22"});

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
