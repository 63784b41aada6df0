// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"
#include "core/event/operation.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cdc::event {

struct control_record;

/// One captured change as views into the batch that holds its bytes; valid as long as the batch.
struct change_event {
    operation op = operation::other;
    std::string_view operation_type; ///< the server's word: insert, update, replace, delete, …
    std::string_view db;
    std::string_view collection;
    bson::timestamp cluster_time;
    std::optional<std::int64_t> wall_time_ms; ///< MongoDB 6.0 and later
    bson::view resume_token;                  ///< the event's `_id`
    std::optional<bson::view> document_key;   ///< `_id` and, on a sharded cluster, the shard key
    std::optional<bson::cursor> id;           ///< `documentKey._id`; absent for collection events
    std::optional<bson::view> before;
    std::optional<bson::view> after; ///< fullDocument; absent when missing or null

    /// Present for $-operator updates only.
    struct update_description {
        bson::view updated_fields;
        bson::view removed_fields;                  ///< array of strings
        std::optional<bson::view> truncated_arrays; ///< array of {field, newSize}
    };
    std::optional<update_description> update;

    std::optional<bson::view> lsid;
    std::optional<std::int64_t> txn_number;

    /// Of an operation::control, else null. The batch owns it.
    const control_record* control = nullptr;
};

/// `_data` of the event's resume token; empty when the token has none.
inline std::string_view token_text(const change_event& e) noexcept {
    const auto data = bson::find(e.resume_token, "_data");
    return data && data->kind() == bson::type::string ? data->as_string() : std::string_view{};
}

} // namespace cdc::event
