// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/event_shape.hpp"
#include "core/event/json_formats.hpp"
#include "core/event/topic_name.hpp"
#include "sources/mongodb/cursor/oversize_policy.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cdc::config {
class option_table;
class values;
} // namespace cdc::config

namespace cdc::mongodb {

/// What an update event carries: only the change, or also the document as it is when looked up.
enum class capture_mode { change_streams, change_streams_update_full };

/// What the change stream is opened on.
enum class capture_scope { deployment, database, collection };

/// What becomes of a stored position that the oplog no longer reaches back to.
enum class lost_position_mode { fail, from_now };

/// What becomes of one that the oplog reaches back to, but whose event the server does not find.
enum class missing_token_mode { fail, from_time };

/// Everything a connector of `source: mongodb` can be told, already checked. Names and meanings
/// are Debezium's; where a default differs the option's row says so.
struct connector_options {
    std::string connection_string; ///< secret: may hold a password
    std::string user;              ///< empty: the connection string decides
    std::string password;          ///< secret; as typed, not percent-encoded
    std::string auth_source;       ///< database that holds the credentials
    std::chrono::milliseconds connect_timeout{2000};
    std::chrono::milliseconds server_selection_timeout{30000};
    /// For one reply; always longer than `max_await_time`.
    std::chrono::milliseconds socket_timeout{60000};

    /// False: stays on the one host of the connection string, whatever its role.
    bool members_auto_discover = true;
    /// How often the member read from is asked whether it is still the primary, at least.
    std::chrono::milliseconds heartbeat_frequency{10000};

    event::naming names; ///< topic.prefix, topic.delimiter, topic.transaction, …

    mongodb::capture_mode capture_mode = mongodb::capture_mode::change_streams_update_full;
    mongodb::capture_scope capture_scope = mongodb::capture_scope::deployment;
    std::string target_db;         ///< set for the scopes database and collection
    std::string target_collection; ///< set for the scope collection; may hold dots
    bool include_ddl_events = false;
    cursor::oversize_mode oversize = cursor::oversize_mode::fail;
    std::size_t oversize_threshold = 0; ///< bytes of a document; above 0 exactly with skip
    bool unsplit_allowed = false;
    std::chrono::milliseconds max_await_time{0}; ///< of a waiting getMore; 0 = the server's default

    /// Where the first start begins; at most one of the three says something but now.
    bool start_at_oldest = false;
    std::int64_t start_op_time = -1; ///< 64-bit BSON timestamp; -1: none
    std::string start_token;         ///< as event::position::from_token_text takes it; empty: none
    lost_position_mode on_lost_position = lost_position_mode::fail;
    missing_token_mode on_token_not_found = missing_token_mode::fail;
    std::chrono::milliseconds oplog_headroom_warn{3600000}; ///< 0: never

    /// Patterns as written, trimmed, without empty ones. At most one list of each pair is filled.
    std::vector<std::string> database_include;
    std::vector<std::string> database_exclude;
    std::vector<std::string> collection_include;
    std::vector<std::string> collection_exclude;

    std::vector<std::string> field_exclude; ///< items of field.exclude.list, see event::field_rules
    std::vector<std::string> field_renames; ///< items of field.renames
    bool skip_without_change = false;       ///< skip.messages.without.change

    bool tombstones_on_delete = true;
    bool transaction_metadata = false; ///< provide.transaction.metadata
    event::event_shape event_shape = event::event_shape::current;
    event::json_serialization_mode json_serialization = event::json_serialization_mode::legacy;
    bool bare_nonfinite_numbers = false; ///< see event::formats_of
    std::size_t max_batch_size = 2048;   ///< upper bound of the change stream cursor's batchSize
    std::size_t max_queue_size = 8192;   ///< records
    std::size_t max_queue_bytes = std::size_t{64} << 20;
    std::chrono::milliseconds offset_flush_interval{1000};
    bool schemas_enable = true; ///< a sink may override it
    std::chrono::milliseconds shutdown_timeout{10000};
};

/// The rows of `source: mongodb`. Lives as long as the program.
const config::option_table& option_table();

/// From checked values of that table.
connector_options make_connector_options(const config::values& values);

} // namespace cdc::mongodb
