// SPDX-License-Identifier: Apache-2.0
// Whole configuration files against the tables that the program has: what is wrong with them.
#include "tests/unit/app/written.hpp"

#include <filesystem>
#include <string>

using namespace cdc;
using cdc::test::mistakes_of;
using cdc::test::strings;
using cdc::test::with;
using cdc::test::written;

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
        {"collection.include.list: orders",
         R"(collection.include.list: "orders" matches nothing, because it names no database)"},
        {"collection.include.list: d.a\ncollection.exclude.list: d.b",
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
        {"cursor.oversize.handling.mode: skip",
         "cursor.oversize.skip.threshold: must be above 0 with cursor.oversize.handling.mode skip"},
        {"cursor.oversize.skip.threshold: 1MiB", "has no meaning without"},
        {"cursor.oversize.handling.mode: drop", "allowed: fail, skip, split"},
        {"capture.target: a", "capture.target: has no meaning with capture.scope deployment"},
        {"capture.scope: all",
         R"("all" is not allowed; allowed: deployment, database, collection)"},
        {"mongodb.socket.timeout.ms: 0", R"("0" is out of range)"},
        {"mongodb.socket.timeout.ms: 5000\ncursor.max.await.time.ms: 4001",
         "mongodb.socket.timeout.ms: is too short: a reply may rightly take "
         "cursor.max.await.time.ms; "
         "allowed: 5001 or more"},
        {"mongodb.password: hunter22", "mongodb.user: is missing: mongodb.password is given"},
        {"mongodb.heartbeat.frequency.ms: 0", R"("0" is out of range)"},
        {"mongodb.members.auto.discover: 'no'", R"("no" is not a boolean)"},
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
        {"topic.delimiter: a b", "topic.delimiter: \"a b\" is not allowed"},
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

TEST_CASE("fault 160: mistakes in connection strings do not show them",
          "[app][config][fault-160]") {
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

TEST_CASE("a connector that is to stay on one host is given one", "[app][config]") {
    const std::string alone = "mongodb.members.auto.discover: false\nmongodb.connection.string: ";
    for (const auto* uri : {"mongodb://h1,h2/", "mongodb://u:p,w@h1:1,[::1]:2/?replicaSet=rs0",
                            "mongodb+srv://cluster.example.net/"}) {
        CAPTURE(uri);
        const auto found = mistakes_of(alone + "'" + uri + "'");
        REQUIRE(found.size() == 1);
        CHECK(found[0].find("connectors.a.mongodb.members.auto.discover: is false, which stays on "
                            "one host, but mongodb.connection.string names more than one") == 0);
    }
    for (const auto* uri : {"mongodb://h", "mongodb://u:p,w@[::1]:2/?replicaSet=rs0",
                            "mongodb://h/?readPreferenceTags=a:b,c:d"}) {
        CAPTURE(uri);
        const auto good =
            written(with(alone + "'" + uri + "'\nmongodb.heartbeat.frequency.ms: 700")).good();
        const auto options = mongodb::make_connector_options(good.connectors.at(0).options);
        CHECK_FALSE(options.members_auto_discover);
        CHECK(options.heartbeat_frequency == std::chrono::milliseconds(700));
    }
}

TEST_CASE("values that ask for what happens anyway are no mistake", "[app][config]") {
    const std::string line =
        GENERATE("skipped.operations: none", "skipped.operations: t", "filters.match.mode: regex",
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
         R"(sinks.out.type: "fil" is not allowed; allowed: file, webhook, discard; did you mean "file"?)"},
        {"path: x", "sinks.out.type: is missing; allowed: file, webhook, discard"},
        {"type: [file]",
         R"(sinks.out.type: "file" is not a text; allowed: file, webhook, discard)"},
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
