// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "core/event/position.hpp"
#include "sources/mongodb/filters.hpp"
#include "sources/mongodb/options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

namespace cdc::mongodb::cursor {

/// What a change stream is opened on and what it carries.
struct stream_target {
    capture_scope scope = capture_scope::deployment;
    std::string db;         ///< for the scopes database and collection
    std::string collection; ///< for the scope collection; may hold dots
    bool update_lookup = false;
    bool namespace_events = false; ///< drop, rename, dropDatabase
    /// Bytes of a document above which the server leaves documents out of an event; 0: never.
    std::size_t skip_threshold = 0;

    /// For people: "the deployment", "database x", "collection x.y".
    std::string describe() const;
};

/// Where a change stream is opened: from now, behind a position (with `startAfter` when it is one
/// of an invalidate, else with `resumeAfter`), or at a time (inclusive).
using open_at = std::variant<std::monostate, event::position, bson::timestamp>;

/// A command and the database it goes to.
struct database_command {
    std::string db;
    bson::document command;
};

/// The `$match` stage's condition: data events (insert, update, replace, delete) of the namespaces
/// that `f` wants, every `invalidate`, and with `namespace_events` every drop, rename and
/// dropDatabase. Never keeps back what `f` would let pass; for literal
/// items it lets pass nothing else, for some regexes it is rougher (see namespace_condition) and
/// the exact check is the reader's. Uses only what MongoDB has had since 4.0: `$match` with
/// `$or`, `$and`, `$nor`, `$in` and regular expressions on `ns.db`, `ns.coll` and `operationType`.
bson::document change_match(const filters& f, bool namespace_events = false);

/// With a skip threshold every event has this field: the size in bytes of its document or its
/// pre-image, whichever is larger, or null when it has none ($bsonSize, MongoDB 4.4). Above the
/// threshold both, and the description of an update, are left out.
///
/// Debezium lets the server keep such events back (a $match on the same sizes); then nobody can
/// tell how many they were.
inline constexpr std::string_view size_field = "documentSize";

/// The `aggregate` that opens a change stream, with `cursor: {batchSize: 0}`: it then answers at
/// once, also when the stream starts far behind. `split`: events above the server's size limit come
/// in fragments (see split_event).
database_command open_change_stream(const stream_target& target, const open_at& at,
                                    const filters& f, bool split = false);

/// The `aggregate` of the same stream without any document in its events.
database_command open_outline_stream(const stream_target& target, const open_at& at,
                                     const filters& f);

/// The `aggregate` of a stream at `at` on the same target without any filter, to see whether the
/// server's history reaches back to that time.
database_command open_probe_stream(const stream_target& target, bson::timestamp at);

} // namespace cdc::mongodb::cursor
