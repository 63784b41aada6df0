// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::test::standin {

/// A command's failure, thrown up to the dispatcher, which turns it into the server's error reply.
/// Codes, names and texts are the server's (4.4.0 where a recording exists).
struct server_error : std::runtime_error {
    server_error(int error_code, const std::string& text)
        : std::runtime_error(text)
        , code(error_code) {}

    int code;
    std::vector<std::string> labels; ///< besides those that every such error gets
    bool only_these_labels = false;
    /// Further fields of the error (keyPattern and keyValue of a duplicate key).
    std::shared_ptr<const bson::document> extra;
};

/// The server's name of a code; "LocationN" for codes without one.
std::string code_name(int code);

namespace code {
inline constexpr int internal_error = 1;
inline constexpr int bad_value = 2;
inline constexpr int failed_to_parse = 9;
inline constexpr int unauthorized = 13;
inline constexpr int type_mismatch = 14;
inline constexpr int overflow = 15;
inline constexpr int invalid_length = 16;
inline constexpr int authentication_failed = 18;
inline constexpr int illegal_operation = 20;
inline constexpr int namespace_not_found = 26;
inline constexpr int path_not_viable = 28;
inline constexpr int conflicting_update_operators = 40;
inline constexpr int cursor_not_found = 43;
inline constexpr int namespace_exists = 48;
inline constexpr int dollar_prefixed_field_name = 52;
inline constexpr int command_not_found = 59;
inline constexpr int immutable_field = 66;
inline constexpr int invalid_options = 72;
inline constexpr int invalid_namespace = 73;
inline constexpr int no_replication_enabled = 76;
inline constexpr int capped_position_lost = 136;
inline constexpr int command_not_supported_on_view = 166;
inline constexpr int transaction_too_old = 225;
inline constexpr int cursor_killed = 237;
inline constexpr int invalid_resume_token = 260;
inline constexpr int change_stream_fatal_error = 280;
inline constexpr int change_stream_history_lost = 286;

// Of elections, ends and networks.
inline constexpr int host_unreachable = 6;
inline constexpr int host_not_found = 7;
inline constexpr int max_time_expired = 50;
inline constexpr int stale_shard_version = 63;
inline constexpr int network_timeout = 89;
inline constexpr int shutdown_in_progress = 91;
inline constexpr int command_failed = 125;
inline constexpr int failed_to_satisfy_read_preference = 133;
inline constexpr int stale_epoch = 150;
inline constexpr int primary_stepped_down = 189;
inline constexpr int close_change_stream = 222;
inline constexpr int retry_change_stream = 234;
inline constexpr int exceeded_time_limit = 262;
inline constexpr int socket_exception = 9001;
inline constexpr int not_primary = 10107;
inline constexpr int interrupted_at_shutdown = 11600;
inline constexpr int interrupted = 11601;
inline constexpr int interrupted_by_state_change = 11602;
inline constexpr int stale_config = 13388;
inline constexpr int not_primary_no_secondary_ok = 13435;
inline constexpr int not_primary_or_secondary = 13436;

inline constexpr int object_too_large = 10334;
inline constexpr int cursor_in_use = 12051;
inline constexpr int duplicate_key = 11000;
inline constexpr int unrecognized_stage = 40324;
inline constexpr int unknown_field = 40415;
inline constexpr int change_stream_needs_replica_set = 40573;
inline constexpr int cursor_outside_session = 50736;
inline constexpr int cursor_needs_session = 50737;
inline constexpr int cursor_of_other_session = 50738;
} // namespace code

} // namespace cdc::test::standin
