// SPDX-License-Identifier: Apache-2.0
#include "core/event/topic_name.hpp"
#include "core/event/topic_table.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace cdc::event;

TEST_CASE("topics are prefix, database and collection, cleaned", "[event]") {
    CHECK(topic_name("p", "db", "coll") == "p.db.coll");
    CHECK(topic_name("mongo", "dbit", "dbz865_my@collection") == "mongo.dbit.dbz865_my_collection");
    CHECK(topic_name("p", "a", "b.c.d") == "p.a.b.c.d");
    CHECK(topic_name("p-1_x", "A9", "z-_.0") == "p-1_x.A9.z-_.0");
    CHECK(topic_name("p", "db", "a b$c/d") == "p.db.a_b_c_d");
    // One underscore for each UTF-16 code unit.
    CHECK(topic_name("p", "db", "\u00e9\u65e5\U0001f600") == "p.db.____");
    CHECK(topic_name("p", "db",
                     "\xff"
                     "a") == "p.db._a");
    CHECK(topic_name("p", "db", std::string(300, 'x')).size() == 249);
    const std::string long_collection = std::string(243, 'x') + "\U0001f600";
    CHECK(topic_name("p", "db", long_collection) == "p.db." + std::string(243, 'x') + "_");
    CHECK(topic_name("", "", "") == "__");
    CHECK(key_schema_name("p.db.c") == "p.db.c.Key");
    CHECK(envelope_schema_name("p.db.c") == "p.db.c.Envelope");
}

TEST_CASE("collections that share a topic are reported once", "[event]") {
    topic_table topics{"p"};
    const auto first = topics.topic("db", "my@c");
    CHECK(*first == "p.db.my_c");
    CHECK(topics.topic("db", "my@c") == first);
    CHECK(topics.topic("db", "other") != first);
    CHECK(topics.take_clashes().empty());

    const auto second = topics.topic("db", "my_c");
    CHECK(second == first);
    topics.topic("db", "my_c");
    const auto clashes = topics.take_clashes();
    REQUIRE(clashes.size() == 1);
    CHECK(clashes[0].topic == "p.db.my_c");
    CHECK(clashes[0].first == "db.my@c");
    CHECK(clashes[0].second == "db.my_c");
    topics.topic("db", "my_c");
    CHECK(topics.take_clashes().empty());

    // A dot moved between database and collection is another namespace with the same topic.
    topics.topic("a", "b.c");
    topics.topic("a.b", "c");
    CHECK(topics.take_clashes().size() == 1);
}
