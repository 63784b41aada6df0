// SPDX-License-Identifier: Apache-2.0
// Events that are too large, against the stand-in replica set.
#include "core/bson/builder.hpp"
#include "tests/integration/stream/stream_test.hpp"

#include <limits>

using namespace cdc;
using namespace cdc::test;
using mongodb::capture_mode;
using mongodb::cursor::oversize_mode;

namespace {

constexpr std::size_t nearly_16_mib = (16U << 20U) - 64;

standin::replica_set_options version(std::string v) {
    standin::replica_set_options out;
    out.version = std::move(v);
    return out;
}

bson::document document(std::int32_t id, const char* field, std::size_t bytes) {
    const std::vector<std::uint8_t> data(bytes, 'x');
    bson::builder b;
    return b.int32("_id", id).binary(field, 0, data).finish();
}

struct oversize_test : stream_test {
    explicit oversize_test(standin::replica_set_options set_options = {})
        : stream_test(std::move(set_options)) {
        options.collection_include = {"shop.orders"};
        options.capture_mode = capture_mode::change_streams_update_full;
        // Here 16 MiB are copied at once, by code that is not optimised.
        most_late = std::numeric_limits<std::size_t>::max();
    }

    void insert_large(std::int32_t id, std::size_t bytes) {
        set->insert("shop", "orders", document(id, "x", bytes));
    }
    /// One update that unsets x and sets y: its event holds the new value twice.
    void update_large(std::int32_t id, std::size_t bytes) {
        const std::vector<std::uint8_t> data(bytes, 'y');
        bson::builder u;
        u.document("$unset", bson::builder{}.string("x", "").finish());
        u.document("$set", bson::builder{}.binary("y", 0, data).finish());
        bson::builder one;
        one.document("q", bson::builder{}.int32("_id", id).finish()).document("u", u.finish());
        bson::builder b;
        b.string("update", "orders")
            .array("updates", bson::builder{}.document("0", one.finish()).finish());
        REQUIRE(bson::find(set->run("shop", b.finish()), "ok")->truthy());
    }
    /// The event that no server can send, with neighbours.
    void large_among_small() {
        insert("shop", "orders", 1);
        insert("shop", "orders", 2);
        insert("shop", "orders", 3);
        update_large(3, nearly_16_mib);
        insert("shop", "orders", 4);
        insert("shop", "orders", 5);
    }
};

const std::vector<std::string> in_front = {"insert shop.orders 1", "insert shop.orders 2",
                                           "insert shop.orders 3"};
const std::vector<std::string> behind = {"insert shop.orders 4", "insert shop.orders 5"};

std::vector<std::string> without_large() {
    auto out = in_front;
    out.insert(out.end(), behind.begin(), behind.end());
    return out;
}

boost::asio::awaitable<void> batches(mongodb::streaming::stream_source& from,
                                     std::vector<std::pair<event::position, std::size_t>>& seen,
                                     arrived& into, std::size_t events) {
    while (into.events.size() < events) {
        const bool came = co_await next(from, into);
        if (!came)
            break;
        seen.emplace_back(into.last.clone(), into.events.size());
    }
}

} // namespace

TEST_CASE("faults 36 and 37: an event above the limit ends the connector by name, behind all "
          "events in front of it",
          "[stream][standin][fault-36][fault-37]") {
    oversize_test t;
    REQUIRE(t.start());
    t.large_among_small();
    arrived got;
    t.take(got, 6);
    CHECK(got.events == in_front);
    REQUIRE(got.error);
    INFO(got.error->describe());
    CHECK(got.error->server_code == 10334);
    CHECK(got.error->text.find("update of shop.orders (resume token 82") != std::string::npos);
    CHECK(got.error->text.find("larger than the server can send") != std::string::npos);
    CHECK(got.error->text.find("3 attempts at the same position") != std::string::npos);
    CHECK(got.error->text.find("position: 2") != std::string::npos);
    CHECK(t.source->reopened() <= 4);
    // What is stored is in front of the event, so that the next start finds it again.
    const auto stored = got.last.clone();
    REQUIRE(t.start(stored.clone()));
    arrived again;
    t.take(again, 1);
    CHECK(again.events.empty());
    REQUIRE(again.error);
    CHECK(again.error->server_code == 10334);
    CHECK((again.last.empty() || again.last == stored));
}

TEST_CASE("fault 36: with skip an event above the limit is passed by, and nothing else",
          "[stream][standin][fault-36]") {
    for (const std::size_t batch_size : {1, 2, 1000}) {
        INFO("batches of " << batch_size);
        oversize_test t;
        t.options.oversize = oversize_mode::skip;
        t.options.oversize_threshold = std::size_t{32} << 20U;
        t.options.max_batch_size = batch_size;
        REQUIRE(t.start());
        arrived got;
        REQUIRE(t.take_batch(got));
        std::vector<std::pair<event::position, std::size_t>> positions;
        positions.emplace_back(got.last.clone(), 0);
        t.large_among_small();
        await_on(t.reactor, batches(*t.source, positions, got, 5));
        CHECK_FALSE(got.error);
        CHECK(got.events == without_large());
        CHECK(t.source->oversized() == 1);
        CHECK(t.log->count("skipped because it is larger than the server can send, 1 events so "
                           "far: update of shop.orders (resume token 82") == 1);
        // Wherever it is killed, the rest comes once.
        for (const auto& [position, count] : positions) {
            INFO("from behind " << count);
            REQUIRE(t.start(position.clone()));
            arrived rest;
            t.take(rest, 5 - count);
            CHECK_FALSE(rest.error);
            const auto all = without_large();
            CHECK(rest.events == std::vector<std::string>(
                                     all.begin() + static_cast<std::ptrdiff_t>(count), all.end()));
        }
    }
}

TEST_CASE("many events above the limit are passed by one after another", "[stream][standin]") {
    oversize_test t;
    t.options.oversize = oversize_mode::skip;
    t.options.oversize_threshold = std::size_t{32} << 20U;
    REQUIRE(t.start());
    t.insert("shop", "orders", 1);
    t.update_large(1, nearly_16_mib);
    t.update_large(1, nearly_16_mib - 1);
    t.insert("shop", "orders", 2);
    t.update_large(1, nearly_16_mib - 2);
    t.insert("shop", "orders", 3);
    arrived got;
    t.take(got, 3);
    CHECK_FALSE(got.error);
    CHECK(got.events == in_front);
    CHECK(t.source->oversized() == 3);
}

TEST_CASE("fault 42: the threshold is about documents; events without one always arrive",
          "[stream][standin][fault-42]") {
    oversize_test t;
    t.options.oversize = oversize_mode::skip;
    t.options.oversize_threshold = std::size_t{1} << 20U;
    t.insert("shop", "orders", 8);
    t.insert("shop", "orders", 9);
    REQUIRE(t.start());
    arrived got;
    REQUIRE(t.take_batch(got));
    const auto begin = got.last.clone();
    t.stop();
    t.insert_large(1, std::size_t{2} << 20U);
    t.insert_large(2, 1024);
    t.run("shop", R"({"delete": "orders", "deletes": [{"q": {"_id": 8}, "limit": 1}]})");
    t.run("shop",
          R"({"update": "orders", "updates": [{"q": {"_id": 9}, "u": {"$set": {"v": 5}}}]})");
    // Deleted before it is looked up: the update comes with a document that is null.
    t.run("shop", R"({"delete": "orders", "deletes": [{"q": {"_id": 9}, "limit": 1}]})");
    REQUIRE(t.start(begin.clone()));
    t.take(got, 4);
    CHECK_FALSE(got.error);
    CHECK(got.events == std::vector<std::string>{"insert shop.orders 2", "delete shop.orders 8",
                                                 "update shop.orders 9", "delete shop.orders 9"});
    CHECK(got.has_after == std::vector<bool>{true, false, false, false});
    CHECK(t.source->oversized() == 1);
    CHECK(t.source->skipped() == 1);
    CHECK(t.log->count("insert of shop.orders with a document of 2097") == 1);
}

TEST_CASE("a threshold needs a server that can measure", "[stream][standin]") {
    oversize_test t;
    t.options.oversize = oversize_mode::skip;
    t.options.oversize_threshold = 1024;
    standin::command_fault fault;
    fault.commands = {"aggregate"};
    fault.error_code = 168;
    fault.message = "Unrecognized expression '$bsonSize'"; // as before 4.4
    t.set->fail_commands(fault);
    const auto refused = t.start();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().server_code == 168);
    CHECK(refused.error().text.find("pipeline") != std::string::npos);
}

TEST_CASE("faults 36 and 38: with split a large event arrives whole, once",
          "[stream][standin][fault-38][fault-36]") {
    for (const std::size_t batch_size : {1, 1000}) {
        oversize_test t(version("7.0.0"));
        t.options.oversize = oversize_mode::split;
        t.options.max_batch_size = batch_size;
        REQUIRE(t.start());
        arrived got;
        REQUIRE(t.take_batch(got));
        std::vector<std::pair<event::position, std::size_t>> positions;
        positions.emplace_back(got.last.clone(), 0);
        t.large_among_small();
        auto wanted = without_large();
        wanted.insert(wanted.begin() + 3, "update shop.orders 3");
        await_on(t.reactor, batches(*t.source, positions, got, wanted.size()));
        CHECK_FALSE(got.error);
        CHECK(got.events == wanted);
        CHECK(got.has_after.at(3));
        for (const auto& [position, count] : positions) {
            INFO("from behind " << count);
            REQUIRE(t.start(position.clone()));
            arrived rest;
            t.take(rest, wanted.size() - count);
            CHECK_FALSE(rest.error);
            CHECK(rest.events ==
                  std::vector<std::string>(wanted.begin() + static_cast<std::ptrdiff_t>(count),
                                           wanted.end()));
        }
    }
}

static boost::asio::awaitable<void> take_whole(mongodb::streaming::stream_source& from) {
    for (;;) {
        auto batch = co_await from.next_batch();
        REQUIRE(batch);
        if ((*batch)->events().empty())
            continue;
        const auto& e = (*batch)->events().front();
        REQUIRE(e.before);
        REQUIRE(e.after);
        REQUIRE(e.update);
        CHECK(bson::find(*e.before, "a")->as_binary().bytes.size() == nearly_16_mib);
        CHECK(bson::find(*e.after, "b")->as_binary().bytes.size() == nearly_16_mib - 1);
        CHECK(bson::find(e.update->updated_fields, "b")->as_binary().bytes.size() ==
              nearly_16_mib - 1);
        CHECK(e.wall_time_ms);
        CHECK(e.id->as_int32() == 3);
        break;
    }
}

TEST_CASE("fault 38: pre-image, description and document in three fragments",
          "[stream][standin][fault-38]") {
    oversize_test t(version("7.0.0"));
    t.options.oversize = oversize_mode::split;
    REQUIRE(t.start());
    bson::builder change;
    change.string("operationType", "update")
        .document("ns", bson::builder{}.string("db", "shop").string("coll", "orders").finish())
        .document("documentKey", bson::builder{}.int32("_id", 3).finish())
        .document("fullDocumentBeforeChange", document(3, "a", nearly_16_mib))
        .document("fullDocument", document(3, "b", nearly_16_mib - 1));
    const std::vector<std::uint8_t> data(nearly_16_mib - 1, 'x');
    bson::builder description;
    description.document("updatedFields", bson::builder{}.binary("b", 0, data).finish())
        .array("removedFields", {});
    change.document("updateDescription", description.finish());
    t.set->append_change("shop", "orders", change.finish());
    await_on(t.reactor, take_whole(*t.source));
}

TEST_CASE("fault 39: the position of a large event that was the last can be resumed at",
          "[stream][standin][fault-39]") {
    for (const auto later : {oversize_mode::split, oversize_mode::fail, oversize_mode::skip}) {
        oversize_test t(version("7.0.0"));
        t.options.oversize = oversize_mode::split;
        t.insert("shop", "orders", 3);
        REQUIRE(t.start());
        t.update_large(3, nearly_16_mib);
        arrived got;
        t.take(got, 1);
        REQUIRE(got.events == std::vector<std::string>{"update shop.orders 3"});
        REQUIRE_FALSE(got.last.is_high_water());
        // Whatever is configured by then.
        t.options.oversize = later;
        t.options.oversize_threshold = later == oversize_mode::skip ? std::size_t{32} << 20U : 0;
        REQUIRE(t.start(got.last.clone()));
        t.insert("shop", "orders", 4);
        arrived rest;
        t.take(rest, 1);
        CHECK_FALSE(rest.error);
        CHECK(rest.events == std::vector<std::string>{"insert shop.orders 4"});
        CHECK(t.log->count("can only be resumed at by a stream that splits") ==
              (later == oversize_mode::split ? 0 : 1));
    }
}

TEST_CASE("a large event that can no longer be split as it was is read again from its time",
          "[stream][standin]") {
    oversize_test t(version("7.0.0"));
    t.options.oversize = oversize_mode::split;
    t.insert("shop", "orders", 3);
    REQUIRE(t.start());
    t.update_large(3, nearly_16_mib);
    arrived got;
    t.take(got, 1);
    t.stop();
    // Looked up now, the document is small, and so is the event.
    t.run("shop", R"({"update": "orders", "updates": [{"q": {"_id": 3}, "u": {"v": 1}}]})");
    REQUIRE(t.start(got.last.clone()));
    arrived rest;
    t.take(rest, 2);
    CHECK_FALSE(rest.error);
    // The pipeline knows that its sinks have the first of them.
    CHECK(rest.events == std::vector<std::string>{"update shop.orders 3", "replace shop.orders 3"});
    CHECK(rest.last > got.last);
    CHECK(t.log->count("the event was split, and is no longer as it was") == 1);
}

TEST_CASE("fault 41: where the server does not split, the connector fails or goes on as told",
          "[stream][standin][fault-41]") {
    oversize_test t; // 4.4.0
    t.options.oversize = oversize_mode::split;
    const auto refused = t.start();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error::errc::unsupported);
    CHECK(refused.error().text.find("refuses to split large events") != std::string::npos);

    t.options.unsplit_allowed = true;
    REQUIRE(t.start());
    CHECK(t.log->count("the stream goes on without") == 1);
    t.insert("shop", "orders", 1);
    arrived got;
    t.take(got, 1);
    CHECK(got.events.size() == 1);

    // Says 8.0, and refuses in words of its own.
    oversize_test other(version("8.0.0"));
    other.options.oversize = oversize_mode::split;
    other.options.unsplit_allowed = true;
    standin::command_fault fault;
    fault.commands = {"aggregate"};
    fault.error_code = 303;
    fault.message = "Stage not supported yet in native pipeline: $changeStreamSplitLargeEvent";
    fault.times = 1;
    other.set->fail_commands(fault);
    REQUIRE(other.start());
    CHECK(other.log->count("the stream goes on without") == 1);
    other.insert("shop", "orders", 1);
    arrived rest;
    other.take(rest, 1);
    CHECK(rest.events.size() == 1);
}

TEST_CASE("fault 69: positions move past events of unknown types", "[stream][standin][fault-69]") {
    for (const bool with_ddl : {false, true}) {
        oversize_test t(version("7.0.0"));
        t.options.include_ddl_events = with_ddl;
        REQUIRE(t.start());
        t.insert("shop", "orders", 1);
        for (const char* type : {"modify", "createIndexes", "reshardCollection", "somethingNew"}) {
            bson::builder change;
            change.string("operationType", type)
                .document("ns",
                          bson::builder{}.string("db", "shop").string("coll", "orders").finish())
                .document("operationDescription", bson::builder{}.int32("any", 1).finish());
            t.set->append_change("shop", "orders", change.finish());
        }
        const auto last = t.set->last_time();
        arrived got;
        while (got.last.cluster_time() < last)
            REQUIRE(t.take_batch(got));
        CHECK(got.events == std::vector<std::string>{"insert shop.orders 1"});
        t.insert("shop", "orders", 2);
        t.take(got, 2);
        CHECK_FALSE(got.error);
        CHECK(got.events.size() == 2);
    }
}
