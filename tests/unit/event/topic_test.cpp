// SPDX-License-Identifier: Apache-2.0
#include "core/event/topic_name.hpp"
#include "core/event/topic_table.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace cdc::event;

TEST_CASE("topics are prefix, database and collection, cleaned", "[event]") {
    CHECK(topic_name({"p"}, "db", "coll") == "p.db.coll");
    CHECK(topic_name({"mongo"}, "dbit", "dbz865_my@collection") ==
          "mongo.dbit.dbz865_my_collection");
    CHECK(topic_name({"p"}, "a", "b.c.d") == "p.a.b.c.d");
    CHECK(topic_name({"p-1_x"}, "A9", "z-_.0") == "p-1_x.A9.z-_.0");
    CHECK(topic_name({"p"}, "db", "a b$c/d") == "p.db.a_b_c_d");
    // One underscore for each UTF-16 code unit.
    CHECK(topic_name({"p"}, "db", "\u00e9\u65e5\U0001f600") == "p.db.____");
    CHECK(topic_name({"p"}, "db",
                     "\xff"
                     "a") == "p.db._a");
    CHECK(topic_name({"p"}, "db", std::string(300, 'x')).size() == 249);
    const std::string long_collection = std::string(243, 'x') + "\U0001f600";
    CHECK(topic_name({"p"}, "db", long_collection) == "p.db." + std::string(243, 'x') + "_");
    CHECK(topic_name({""}, "", "") == "__");
    CHECK(schema_name({"p"}, "p.db.c", "Key") == "p.db.c.Key");
    CHECK(schema_name({"p"}, "p.db.c", "Envelope") == "p.db.c.Envelope");
}

TEST_CASE("topics with another delimiter", "[event]") {
    const naming names{"p", "-"};
    CHECK(topic_name(names, "db", "a.b") == "p-db-a.b");
    CHECK(control_topic_name(names, "db") == "p-db");
    CHECK(schema_name(names, "p-db-c", "Key") == "p-db-c.Key");
}

TEST_CASE("schema names as Avro takes them", "[event]") {
    using enum name_adjustment;
    CHECK(adjusted("p-1.db.c d.Key", none) == "p-1.db.c d.Key");
    CHECK(adjusted("p-1.db.1c d.Key", avro) == "p_1.db.1c_d.Key");
    CHECK(adjusted("1p.a.Key", avro) == "_1p.a.Key");
    CHECK(adjusted("-p.a.Key", avro) == "_p.a.Key");
    CHECK(adjusted("_p.\u0142\U0001f600", avro) == "_p.___");
    CHECK(adjusted("p_1.x-y.Key", avro_unicode) == "p_u005f1.x_u002dy.Key");
    CHECK(adjusted("1\t\u0142\u65e5\U0001f600", avro_unicode) ==
          "_u0031_u009_u142_u65e5_ud83d_ude00");
    CHECK(adjusted("", avro).empty());
    CHECK(schema_name({"p", ".", avro}, "p-x.db.c", "Envelope") == "p_x.db.c.Envelope");
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
