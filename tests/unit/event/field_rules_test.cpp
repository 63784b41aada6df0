// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/event/envelope.hpp"
#include "core/event/field_rules.hpp"
#include "sources/mongodb/streaming/decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/unit/event/change_documents.hpp"

#include <string>
#include <vector>

using namespace cdc;
using test::change_document;
using test::standin::from_json;

namespace {

using list = std::vector<std::string>;

std::string to_json(bson::view document) {
    std::string out;
    {
        json::writer to{out};
        REQUIRE(bson::write_json(to, document, bson::json_format::strict_compact,
                                 bson::json_embedding::plain));
    }
    return out;
}

event::field_rules rules_of(const list& excluded, const list& renamed = {}) {
    auto made = event::field_rules::compile(excluded, renamed);
    REQUIRE(made);
    return std::move(*made);
}

/// What the rules make of a change document, as text: "null" for what is not there.
struct shown {
    std::string before = "null";
    std::string after = "null";
    std::string updated = "null";
    std::string removed = "null";
    std::string truncated = "null";
    std::string error;
};

shown apply(const event::field_rules& rules, const bson::document& change) {
    const auto decoded = mongodb::streaming::decode(change);
    REQUIRE(decoded);
    const auto of = rules.of(decoded->db, decoded->collection);
    event::field_rules::collection_rules::buffers buffers;
    error::result<event::change_event> applied = *decoded;
    if (of)
        applied = of->apply(*decoded, buffers);
    shown out;
    if (!applied) {
        out.error = applied.error().text;
        return out;
    }
    if (applied->before)
        out.before = to_json(*applied->before);
    if (applied->after)
        out.after = to_json(*applied->after);
    if (applied->update) {
        out.updated = to_json(applied->update->updated_fields);
        out.removed = to_json(applied->update->removed_fields);
        if (applied->update->truncated_arrays)
            out.truncated = to_json(*applied->update->truncated_arrays);
    }
    return out;
}

bson::document insert_of(const char* document, std::string_view db = "db",
                         std::string_view collection = "c") {
    return change_document{"insert"}.ns(db, collection).key().full(from_json(document)).finish();
}

/// `description`: the whole updateDescription.
bson::document update_of(const char* description, const char* full = R"({"_id": 1})") {
    change_document out{"update"};
    out.ns("db", "c").key().full(from_json(full));
    out.more().document("updateDescription", from_json(description));
    return out.finish();
}

} // namespace

TEST_CASE("field rules: what an item must look like", "[event][fields]") {
    for (const char* item : {"inventory", "db.coll", "db.coll.", "db..name", ".coll.name",
                             "db.coll.a..b", "db.*.q*", "db.c.a.*", ""}) {
        INFO(item);
        CHECK(!event::field_rules::problem_of(item, false).empty());
        const auto made = event::field_rules::compile({item}, {});
        REQUIRE(!made);
        CHECK(made.error().text.find("field.exclude.list: item '" + std::string(item)) == 0);
    }
    for (const char* item : {"db1.c.name", "db1.c.name:", "db1.c.:new", "db1.c:new", ":new",
                             "db1.c.name:a:b", "db1.c.name:a.b", "db1.c.name:name"}) {
        INFO(item);
        const auto made = event::field_rules::compile({}, {item});
        REQUIRE(!made);
        CHECK(made.error().text.find("field.renames: item '" + std::string(item)) == 0);
    }
    CHECK(event::field_rules::problem_of("*.collectionA.name", false).empty());
    CHECK(event::field_rules::problem_of("db1.collectionA.name1:new_name1", true).empty());
}

TEST_CASE("fault 114: field rules know their collections, by name or with stars",
          "[event][fields][fault-114]") {
    const auto rules = rules_of({"*.c1.name", "my-db.c-2.v", "shop*.*old*.x"});
    const auto after = [&](const char* db, const char* collection) {
        return apply(rules, insert_of(R"({"_id": 1, "name": 1, "v": 2, "x": 3})", db, collection))
            .after;
    };
    CHECK(after("db", "c1") == R"({"_id": 1,"v": 2,"x": 3})");
    CHECK(after("my-db", "C1") == R"({"_id": 1,"v": 2,"x": 3})");
    CHECK(after("my-db", "c-2") == R"({"_id": 1,"name": 1,"x": 3})");
    CHECK(after("my-db", "c3") == R"({"_id": 1,"name": 1,"v": 2,"x": 3})");
    CHECK(after("my-db", "xc1") == R"({"_id": 1,"name": 1,"v": 2,"x": 3})");
    CHECK(after("shop", "orders.old.2020") == R"({"_id": 1,"name": 1,"v": 2})");
    CHECK(after("workshop", "old") == R"({"_id": 1,"name": 1,"v": 2,"x": 3})");
    CHECK(rules.of("db", "c3") == nullptr);
}

TEST_CASE("field rules: excluded fields of a document, nested and in arrays", "[event][fields]") {
    const auto after = [](const list& excluded, const char* document) {
        return apply(rules_of(excluded), insert_of(document)).after;
    };
    CHECK(after({"db.c.name", "db.c.active", "db.c.nothing"},
                R"({"_id": 1, "name": "x", "phone": 2, "active": true})") ==
          R"({"_id": 1,"phone": 2})");
    CHECK(after({"db.c.address.number"},
                R"({"_id": 1, "address": {"number": 34, "street": "s"}, "number": 5})") ==
          R"({"_id": 1,"address": {"street": "s"},"number": 5})");
    // A value where the path wants a document, and a document where it ends.
    CHECK(after({"db.c.a.b", "db.c.d"}, R"({"a": 1, "d": {"e": 1}})") == R"({"a": 1})");
    CHECK(after({"db.c.a.n"}, R"({"a": [{"n": 1, "s": 2}, 3, {"n": {"n": 1}}, []]})") ==
          R"({"a": [{"s": 2},3,{},[]]})");
    // An excluded field below another excluded one.
    CHECK(after({"db.c.a", "db.c.a.b"}, R"({"a": {"b": 1, "c": 2}, "z": 1})") == R"({"z": 1})");
    // A name with a dot is another field; one that occurs twice goes twice.
    CHECK(after({"db.c.a.b"}, R"({"a.b": 1, "a": {"b": 2}})") == R"({"a.b": 1,"a": {}})");
    bson::builder twice;
    twice.int32("k", 1).int32("n", 2).int32("k", 3);
    change_document insert{"insert"};
    CHECK(apply(rules_of({"db.c.k"}), insert.ns("db", "c").key().full(twice.finish()).finish())
              .after == R"({"n": 2})");
}

TEST_CASE("fault 119: field rules reach into arrays inside arrays", "[event][fields][fault-119]") {
    CHECK(apply(rules_of({"db.c.m.v"}), insert_of(R"({"m": [[{"v": 1, "w": 2}], [[{"v": 1}]]]})"))
              .after == R"({"m": [[{"w": 2}],[[{}]]]})");
    CHECK(apply(rules_of({}, {"db.c.m.v:x"}), insert_of(R"({"m": [[{"v": 1, "w": 2}]]})")).after ==
          R"({"m": [[{"w": 2,"x": 1}]]})");
}

TEST_CASE("fault 115: no byte of an excluded field in updates", "[event][fields][fault-115]") {
    const auto rules = rules_of({"*.c.addr.number"});
    const char* updates[] = {
        R"({"updatedFields": {"addr.0.number": 2}, "removedFields": []})",
        R"({"updatedFields": {"addr.0": {"number": 3, "street": "y"}}, "removedFields": []})",
        R"({"updatedFields": {"addr": [{"number": 3, "street": "y"}, [{"number": 4}]]}, "removedFields": []})",
        R"({"updatedFields": {"addr.1.2.number": 1, "addr.number.deep": 1}, "removedFields": ["addr.0.number", "addr.number", "addr.number.x", "addr.0.0.number"]})",
    };
    const char* expected[] = {R"({})", R"({"addr.0": {"street": "y"}})",
                              R"({"addr": [{"street": "y"},[{}]]})", R"({})"};
    for (std::size_t i = 0; i < std::size(updates); ++i) {
        const auto update =
            update_of(updates[i], R"({"_id": 1, "addr": [{"number": 1, "street": "x"}]})");
        const auto got = apply(rules, update);
        CHECK(got.updated == expected[i]);
        CHECK(got.removed == "{}");
        CHECK(got.after == R"({"_id": 1,"addr": [{"street": "x"}]})");

        // And whole records, with both encodings.
        for (const bool with_schemas : {true, false}) {
            event::envelope envelope{{{"1.2.3", "shop", "rs0"},
                                      with_schemas,
                                      true,
                                      {},
                                      std::make_shared<event::field_rules>(rules)},
                                     std::make_shared<event::topic_table>("shop")};
            event::record_batch_builder to{1};
            const auto decoded = mongodb::streaming::decode(update);
            REQUIRE(decoded);
            REQUIRE(envelope.write(*decoded, 1, to));
            const auto batch = to.finish();
            REQUIRE(batch->size() == 1);
            CHECK((*batch)[0].value->find("number") == std::string_view::npos);
            CHECK((*batch)[0].value->find("street") != std::string_view::npos);
        }
    }
}

TEST_CASE("field rules: removed and truncated paths", "[event][fields]") {
    // A removed document took the excluded field along, so its name goes as well, as Debezium has
    // it.
    auto got =
        apply(rules_of({"db.c.contact.email", "db.c.name"}),
              update_of(R"({"updatedFields": {}, "removedFields": ["name", "phone", "contact"]})"));
    CHECK(got.updated == "{}");
    CHECK(got.removed == R"({"0": "phone","1": "contact"})");
    got = apply(rules_of({"db.c.addresses"}),
                update_of(R"({"updatedFields": {"addresses.0": 1, "x": 2}, "removedFields": []})"));
    CHECK(got.updated == R"({"x": 2})");
}

TEST_CASE("fault 117: an excluded array that was shortened leaves no entry",
          "[event][fields][fault-117]") {
    const char* description =
        R"({"updatedFields": {}, "removedFields": [], "truncatedArrays": [{"field": "tags", "newSize": 1}, {"field": "list", "newSize": 2}, {"field": "tags.0.inner", "newSize": 3}]})";
    CHECK(apply(rules_of({"*.c.tags"}), update_of(description)).truncated ==
          R"({"0": {"field": "list","newSize": 2}})");
    CHECK(
        apply(rules_of({}, {"*.c.tags:marks"}), update_of(description)).truncated ==
        R"({"0": {"field": "marks","newSize": 1},"1": {"field": "list","newSize": 2},"2": {"field": "marks.0.inner","newSize": 3}})");
}

TEST_CASE("field rules: renamed fields move to the end", "[event][fields]") {
    const auto after = [](const list& renamed, const char* document) {
        return apply(rules_of({}, renamed), insert_of(document)).after;
    };
    CHECK(after({"*.c.name:new_name"}, R"({"_id": 1, "name": "x", "z": 2})") ==
          R"({"_id": 1,"z": 2,"new_name": "x"})");
    CHECK(after({"*.c.address.number:new-number"},
                R"({"address": {"number": 1, "street": 2}, "number": 3})") ==
          R"({"address": {"street": 2,"new-number": 1},"number": 3})");
    CHECK(after({"*.c.a.n:m"}, R"({"a": [{"n": 1, "s": 2}, {"s": 3}, 4]})") ==
          R"({"a": [{"s": 2,"m": 1},{"s": 3},4]})");
    // One after another, each on what the last one made.
    CHECK(after({"db.c.a:b", "db.c.b:c", "db.c.c:d"}, R"({"a": 1, "z": 2})") ==
          R"({"z": 2,"d": 1})");
    const auto both = apply(rules_of({"db.c.a"}, {"db.c.b:a"}), insert_of(R"({"a": 1, "b": 2})"));
    CHECK(both.after == R"({"a": 2})");

    auto got = apply(
        rules_of({}, {"*.c.address.number:new_number"}),
        update_of(
            R"({"updatedFields": {"address.number": 1, "address.0.number": 2, "address.0.number.deep": 3, "address": {"number": 4}, "x": 5}, "removedFields": ["address.1.number", "address", "y"]})"));
    CHECK(
        got.updated ==
        R"({"address": {"new_number": 4},"x": 5,"address.new_number": 1,"address.0.new_number": 2,"address.0.new_number.deep": 3})");
    CHECK(got.removed == R"({"0": "address.1.new_number","1": "address","2": "y"})");
}

TEST_CASE("fault 118: renaming onto a field that is there is an error that names the rule",
          "[event][fields][fault-118]") {
    const auto rules = rules_of({}, {"db.c.name:phone"});
    CHECK(apply(rules, insert_of(R"({"phone": 1})")).after == R"({"phone": 1})");
    auto got = apply(rules, insert_of(R"({"name": 2, "phone": 1})"));
    CHECK(got.error.find("field.renames: item 'db.c.name:phone'") == 0);
    got =
        apply(rules, update_of(R"({"updatedFields": {"name": 2, "phone": 1}, "removedFields": []})",
                               R"({"_id": 1})"));
    CHECK(got.error.find("field.renames: item 'db.c.name:phone'") == 0);
}

TEST_CASE("field rules: malformed documents are errors", "[event][fields]") {
    bson::document document = from_json(R"({"a": {"b": "text", "c": 1}, "d": 2})");
    std::vector<std::uint8_t> bytes(document.view().bytes().begin(), document.view().bytes().end());
    // The length of the inner string, one too long for its document.
    bytes[14] = 0x70;
    const auto broken = bson::view::from(bytes);
    REQUIRE(broken);
    const auto change = change_document{"insert"}.ns("db", "c").key().full(*broken).finish();
    CHECK(apply(rules_of({"db.c.a.c"}), change).error == "malformed BSON in fullDocument");
    CHECK(apply(rules_of({}, {"db.c.a.c:x"}), change).error == "malformed BSON in fullDocument");
}

TEST_CASE("updates that touch excluded fields only can be left out", "[event][fields]") {
    event::envelope envelope{
        {{"1.2.3", "shop", "rs0"},
         false,
         true,
         {},
         std::make_shared<event::field_rules>(rules_of({"db.c.secret", "db.c.parent.secret"})),
         true},
        std::make_shared<event::topic_table>("shop")};
    const auto count = [&](const bson::document& change) {
        event::record_batch_builder to{1};
        const auto decoded = mongodb::streaming::decode(change);
        REQUIRE(decoded);
        REQUIRE(envelope.write(*decoded, 1, to));
        return to.finish()->size();
    };
    CHECK(count(update_of(R"({"updatedFields": {"secret": 1}, "removedFields": ["secret.x"]})")) ==
          0);
    CHECK(count(update_of(R"({"updatedFields": {"secret": 1, "x": 1}, "removedFields": []})")) ==
          1);
    CHECK(count(update_of(R"({"updatedFields": {"secret": 1}, "removedFields": ["x"]})")) == 1);
    // What was removed held the excluded field and others.
    CHECK(count(update_of(R"({"updatedFields": {}, "removedFields": ["parent"]})")) == 1);
    const auto replaced = [](const char* before) {
        change_document out{"replace"};
        out.ns("db", "c").key().full(from_json(R"({"_id": 1, "secret": 2})"));
        if (before != nullptr)
            out.more().document("fullDocumentBeforeChange", from_json(before));
        return out.finish();
    };
    CHECK(count(replaced(R"({"_id": 1, "secret": 1})")) == 0);
    CHECK(count(replaced(R"({"_id": 1, "secret": 1, "y": 1})")) == 1);
    CHECK(count(replaced(nullptr)) == 1);
    CHECK(count(change_document{"delete"}.ns("db", "c").key().finish()) == 2);
}
