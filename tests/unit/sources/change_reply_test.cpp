// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/change_reply.hpp"
#include "tests/support/catch.hpp"

#include <bson/bson.h>

#include <string>

namespace bson = cdc::bson;
using cdc::mongodb::cursor::change_reply;

namespace {

bson::document from_json(const std::string& text) {
    bson_error_t e;
    bson_t* b = bson_new_from_json(reinterpret_cast<const std::uint8_t*>(text.data()),
                                   static_cast<ssize_t>(text.size()), &e);
    INFO(text);
    REQUIRE(b);
    auto out = bson::document::from_bytes({bson_get_data(b), b->len}).value();
    bson_destroy(b);
    return out;
}

std::string refusal(const std::string& text) {
    const auto r = change_reply::parse(from_json(text));
    REQUIRE_FALSE(r);
    CHECK(r.error().code == cdc::error::errc::protocol);
    return r.error().text;
}

} // namespace

TEST_CASE("a cursor reply is read in place", "[sources][cursor]") {
    auto doc = from_json(R"({"cursor": {"nextBatch": [{"_id": {"_data": "82A"}}, {"_id": {"_data":
        "82B"}}], "postBatchResumeToken": {"_data": "82B"}, "id": {"$numberLong": "77"}, "ns":
        "w.a.b"}, "ok": 1.0, "operationTime": {"$timestamp": {"t": 7, "i": 2}}})");
    const auto* bytes = doc.view().data();
    auto r = change_reply::parse(std::move(doc)).value();
    CHECK(r.cursor_id == 77);
    CHECK(r.ns == "w.a.b");
    CHECK_FALSE(r.empty());
    CHECK(bson::find_path(*r.post_batch_token, "_data")->as_string() == "82B");
    CHECK(*r.operation_time == bson::timestamp{7, 2});
    CHECK(bson::find_path(r.last(), "_id._data")->as_string() == "82B");
    // Views stay good when the reply moves.
    const auto moved = std::move(r);
    CHECK(moved.document.view().data() == bytes);
    CHECK(moved.batch.data() > bytes);
    CHECK(moved.batch.data() < bytes + moved.document.size());
    CHECK(bson::find_path(moved.last(), "_id._data")->as_string() == "82B");
}

TEST_CASE("an empty reply of an old server", "[sources][cursor]") {
    const auto r =
        change_reply::parse(
            from_json(R"({"cursor": {"firstBatch": [], "id": 5, "ns": "a.b"}, "ok": 1})"))
            .value();
    CHECK(r.empty());
    CHECK(r.cursor_id == 5);
    CHECK_FALSE(r.post_batch_token);
    CHECK_FALSE(r.operation_time);
}

TEST_CASE("replies of another shape are protocol errors", "[sources][cursor]") {
    CHECK(refusal(R"({"ok": 1})").find("no cursor") != std::string::npos);
    CHECK(refusal(R"({"cursor": 7})").find("no cursor") != std::string::npos);
    CHECK(refusal(R"({"cursor": {"id": 5, "ns": "a.b"}})").find("no batch") != std::string::npos);
    CHECK(refusal(R"({"cursor": {"firstBatch": []}})").find("no cursor id") != std::string::npos);
    CHECK(refusal(R"({"cursor": {"firstBatch": {}, "id": 5}})").find("not an array") !=
          std::string::npos);
    CHECK(refusal(R"({"cursor": {"firstBatch": [], "id": "x"}})").find("not a number") !=
          std::string::npos);
    CHECK(refusal(R"({"cursor": {"firstBatch": [], "id": 5, "ns": 1}})").find("not a string") !=
          std::string::npos);
    CHECK(refusal(R"({"cursor": {"firstBatch": [3], "id": 5}})").find("not a document") !=
          std::string::npos);
    CHECK(refusal(R"({"cursor": {"firstBatch": [], "id": 5, "postBatchResumeToken": "x"}})")
              .find("resume token") != std::string::npos);
}
