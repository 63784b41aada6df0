// SPDX-License-Identifier: Apache-2.0
// What tests of the stand-in share: asking it, and looking into its replies.
#pragma once

#include "core/bson/builder.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/standin/replica_set.hpp"
#include "tests/support/wire/wire_client.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace cdc::test::standin {

inline const std::string stream_on_c = R"({"aggregate": "c", "pipeline": [{"$changeStream": {}}],
    "cursor": {"batchSize": 0}})";

inline bson::document ask(wire::client& client, const std::string& db, bson::view command) {
    auto reply = client.command(db, command);
    REQUIRE(reply);
    return std::move(*reply);
}

inline bson::document ask_json(wire::client& client, const std::string& db,
                               const std::string& command) {
    const bson::document doc = from_json(command);
    return ask(client, db, doc);
}

inline bson::document with_db(const std::string& db, bson::view command) {
    bson::builder b;
    return b.append_all(command).string("$db", db).finish();
}

inline std::int32_t code_of(bson::view reply) {
    const auto c = bson::find(reply, "code");
    return c ? c->as_int32() : 0;
}

inline std::vector<std::string> labels_of(bson::view reply) {
    std::vector<std::string> out;
    if (const auto labels = bson::find(reply, "errorLabels"))
        for (bson::cursor c{labels->as_document()}; c.next();)
            out.emplace_back(c.as_string());
    return out;
}

inline std::int64_t cursor_of(bson::view reply) {
    const auto id = bson::find_path(reply, "cursor.id");
    REQUIRE(id);
    return id->as_int64();
}

/// Of the stream that stream_on_c has opened.
inline bson::document get_more_of(bson::view opened, int wait_ms) {
    bson::builder b;
    b.int64("getMore", cursor_of(opened)).string("collection", "c");
    return b.int32("maxTimeMS", wait_ms).finish();
}

inline std::size_t count_in(bson::view reply) {
    std::size_t n = 0;
    const auto batch = bson::find_path(reply, "cursor.nextBatch");
    REQUIRE(batch);
    for (bson::cursor c{batch->as_document()}; c.next();)
        ++n;
    return n;
}

using test::eventually;

} // namespace cdc::test::standin
