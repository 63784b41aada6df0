// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "sources/mongodb/streaming/decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/event/change_documents.hpp"

#include <string>
#include <vector>

using namespace cdc;
using event::operation;
using mongodb::streaming::decode;
using test::change_document;

TEST_CASE("data events are read into views", "[decoder]") {
    change_document change{"update"};
    change.ns("db", "a.b.c")
        .key(42)
        .update(bson::builder{}.int32("x", 1).finish(), bson::builder{}.string("0", "y").finish())
        .full()
        .more()
        .document("fullDocumentBeforeChange", bson::builder{}.int32("old", 1).finish())
        .date_ms("wallTime", 1796020168456)
        .document("lsid", bson::builder{}.int32("id", 1).finish())
        .int64("txnNumber", 9)
        .string("aFieldOfTomorrow", "ignored");
    const bson::document doc = change.finish();
    const auto e = decode(doc);
    REQUIRE(e);
    CHECK(e->op == operation::update);
    CHECK(e->operation_type == "update");
    CHECK(e->db == "db");
    CHECK(e->collection == "a.b.c");
    CHECK(e->cluster_time == bson::timestamp{1796020168, 5});
    CHECK(e->wall_time_ms == 1796020168456);
    REQUIRE(e->id);
    CHECK(e->id->as_int32() == 42);
    REQUIRE(e->after);
    REQUIRE(e->before);
    CHECK(bson::find(*e->before, "old"));
    REQUIRE(e->update);
    CHECK(bson::find(e->update->updated_fields, "x"));
    CHECK(bson::find(e->update->removed_fields, "0")->as_string() == "y");
    CHECK_FALSE(e->update->truncated_arrays);
    CHECK(e->lsid);
    CHECK(e->txn_number == 9);
    CHECK(bson::find(e->resume_token, "_data")->as_string() == test::event_token);
    // Views into the document, not copies.
    CHECK(e->after->data() > doc.view().data());
    CHECK(e->after->data() < doc.view().data() + doc.size());
}

TEST_CASE("operation types map to operations", "[decoder]") {
    CHECK(decode(change_document{"insert"}.ns().key().full().finish())->op == operation::create);
    CHECK(decode(change_document{"replace"}.ns().key().full().finish())->op == operation::update);
    CHECK(decode(change_document{"delete"}.ns().key().finish())->op == operation::remove);
    CHECK(decode(change_document{"invalidate"}.finish())->op == operation::invalidate);
    for (const char* type : {"drop", "rename", "dropDatabase", "create", "createIndexes", "modify",
                             "shardCollection", "reshardCollection", "somethingNew"})
        CHECK(decode(change_document{type}.finish())->op == operation::other);
}

TEST_CASE("an unknown operation type may look as it likes", "[decoder]") {
    change_document change{"somethingNew"};
    change.more().int32("ns", 1).string("fullDocument", "x").int32("updateDescription", 2);
    const bson::document doc = change.finish();
    const auto e = decode(doc);
    REQUIRE(e);
    CHECK(e->op == operation::other);
    CHECK(e->operation_type == "somethingNew");

    // Without a clusterTime the token has the time.
    const bson::document bare =
        bson::builder{}
            .document("_id", bson::builder{}.string("_data", test::event_token).finish())
            .string("operationType", "somethingNew")
            .finish();
    const auto b = decode(bare);
    REQUIRE(b);
    CHECK(b->cluster_time == bson::timestamp{0x6b0d17c8, 5});
}

TEST_CASE("fields that may be missing or null", "[decoder]") {
    change_document gone{"update"};
    gone.ns()
        .key()
        .update(bson::view{}, bson::view{})
        .more()
        .null("fullDocument")
        .null("fullDocumentBeforeChange");
    const bson::document doc = gone.finish();
    const auto e = decode(doc);
    REQUIRE(e);
    CHECK_FALSE(e->after);
    CHECK_FALSE(e->before);
    CHECK(e->update);

    const bson::document keyless = change_document{"delete"}.ns().finish();
    const auto k = decode(keyless);
    REQUIRE(k);
    CHECK_FALSE(k->id);
}

TEST_CASE("documents that cannot be data events are refused by name", "[decoder]") {
    const auto refused = [](bson::document doc) {
        const auto e = decode(doc);
        REQUIRE_FALSE(e);
        CHECK(e.error().code == error::errc::bad_data);
        return e.error().text;
    };
    CHECK(refused(bson::builder{}.string("operationType", "insert").finish()).find("token") !=
          std::string::npos);
    CHECK(refused(bson::builder{}
                      .document("_id", bson::builder{}.string("_data", "82").finish())
                      .finish())
              .find("operationType") != std::string::npos);
    const auto text = refused(change_document{"insert"}.ns("db", "coll").key().finish());
    CHECK(text.find("db.coll") != std::string::npos);
    CHECK(text.find(test::event_token) != std::string::npos);
    CHECK(text.find("fullDocument") != std::string::npos);
    refused(change_document{"update"}.ns().key().full().finish());
    refused(change_document{"insert"}.key().full().finish());
    change_document odd{"insert"};
    odd.ns().key().more().string("fullDocument", "text");
    CHECK(refused(odd.finish()).find("fullDocument") != std::string::npos);
    refused(bson::builder{}
                .document("_id", bson::builder{}.string("_data", "82").finish())
                .string("operationType", "delete")
                .document("ns", bson::builder{}.string("db", "d").string("coll", "c").finish())
                .finish());
}

TEST_CASE("a change document cut or changed anywhere never crashes the decoder", "[decoder]") {
    const bson::document doc = change_document{"update"}
                                   .ns()
                                   .key()
                                   .update(bson::builder{}.int32("x", 1).finish(), bson::view{})
                                   .full()
                                   .finish();
    std::size_t refused = 0;
    for (std::size_t at = 4; at < doc.size() - 1; ++at)
        for (const std::uint8_t flip : {0x01, 0x40, 0xff}) {
            auto bytes =
                std::vector<std::uint8_t>(doc.view().bytes().begin(), doc.view().bytes().end());
            bytes[at] ^= flip;
            const auto v = bson::view::from(bytes);
            REQUIRE(v);
            refused += decode(*v) ? 0 : 1;
        }
    CHECK(refused > 100);
}
