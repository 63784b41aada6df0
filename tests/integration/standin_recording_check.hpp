// SPDX-License-Identifier: Apache-2.0
// What the tests against recordings share: what cannot be equal, and how the rest is compared.
#pragma once

#include "core/bson/builder.hpp"
#include "tests/integration/standin_client.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/standin/difference.hpp"
#include "tests/support/standin/resume_token.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cdc::test::standin {

inline const std::vector<std::string> unequal_in_replies = {
    "operationTime", "$clusterTime.clusterTime", "cursor.id", "topologyVersion.processId",
    "hosts.0", "hosts.1", "hosts.2", "primary", "me", "lastWrite.opTime.ts",
    "lastWrite.lastWriteDate", "lastWrite.majorityOpTime.ts", "lastWrite.majorityWriteDate",
    "localTime", "connectionId",
    // of the host and the build that was recorded
    "gitVersion", "allocator", "openssl.*", "buildEnvironment.*", "storageEngines.*", "totalSize",
    "databases.0.sizeOnDisk"};

inline const std::vector<std::string> unequal_in_events = {"clusterTime"};

inline const std::vector<std::string> unequal_in_oplog = {"ui", "ts", "wall", "o.indexBuildUUID",
                                                          "o.dropTarget"};

inline void check_equal(const std::string& what, bson::view recorded, bson::view answered,
                        const std::vector<std::string>& unequal) {
    for (const auto& difference : differences(recorded, answered, unequal))
        FAIL_CHECK(what << ": " << difference);
    if (recorded.empty())
        FAIL_CHECK(what << ": nothing recorded");
}

inline bson::document without(bson::view doc, const std::set<std::string_view>& names) {
    bson::builder b;
    for (bson::cursor c{doc}; c.next();)
        if (!names.contains(c.name()))
            b.value(c.name(), c);
    return b.finish();
}

inline std::string token_data(bson::view token) {
    return std::string(bson::find(token, "_data")->as_string());
}

/// The distance between a reply's operationTime and the time in its position, which two servers
/// have in common when their clocks are not; nothing for a time that the client gave.
inline std::optional<std::int64_t> ticks_ahead(bson::view reply) {
    const auto token = bson::find_path(reply, "cursor.postBatchResumeToken");
    const auto now = bson::find(reply, "operationTime");
    if (!token || !now)
        return std::nullopt;
    const auto at = resume_token::parse(*token).cluster_time();
    if (at.t != now->as_timestamp().t)
        return std::nullopt;
    return std::int64_t{at.i} - now->as_timestamp().i;
}

} // namespace cdc::test::standin
