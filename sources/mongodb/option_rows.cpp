// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/option_rows.hpp"

#include "core/event/field_rules.hpp"
#include "core/event/position.hpp"
#include "sources/mongodb/connection_string_check.hpp"
#include "sources/mongodb/pattern.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace cdc::mongodb {

namespace {

using config::option_type;

constexpr std::string_view connection = "Connection";
constexpr std::string_view topics = "Topics and payload";
constexpr std::string_view capture = "Capture";
constexpr std::string_view filters = "Filters";
constexpr std::string_view delivery = "Queue and delivery";

constexpr std::int64_t most_ms = INT32_MAX;

constexpr std::string_view no_copy_yet = "copies existing documents, which is not supported yet";
constexpr std::string_view no_pre_images_yet = "needs pre-images, which are not supported yet";
constexpr std::string_view pattern_text =
    "regular expressions (PCRE2) that match the whole name, case ignored; an item without a "
    "metacharacter but the dot is a literal";

constexpr std::string_view collection_pattern_text =
    "database.collection, or regular expressions (PCRE2) that match the whole of it, case ignored; "
    "an "
    "item without a metacharacter but the dot is a literal";

std::string check_pattern(const std::string& item) {
    const auto compiled = pattern::compile(item);
    return compiled ? std::string() : "is " + compiled.error().text;
}

/// An item that is a plain name can only match a whole `database.collection`.
std::string check_collection_pattern(const std::string& item) {
    if (pattern::is_literal(item) && item.find('.') == std::string::npos)
        return "matches nothing, because it names no database";
    return check_pattern(item);
}

std::string check_excluded_field(const std::string& item) {
    return event::field_rules::problem_of(item, false);
}

std::string check_renamed_field(const std::string& item) {
    return event::field_rules::problem_of(item, true);
}

std::string check_topic_part(const std::string& text) {
    const bool good = text.find_first_not_of(
                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
                      std::string::npos;
    return good ? "" : "is not allowed";
}

/// Milliseconds, microseconds and nanoseconds since 1970 and plain seconds, taken for a BSON
/// timestamp, lie before this too.
std::string check_start_time(const std::string& text) {
    constexpr std::int64_t first_release = 1230768000; // 2009-01-01, in seconds
    const std::int64_t time = std::strtoll(text.c_str(), nullptr, 10);
    if (time == -1 || time >> 32 >= first_release)
        return {};
    return "is before MongoDB existed";
}

std::string check_start_token(const std::string& text) {
    const auto token = event::position::from_token_text(text);
    return token ? std::string() : token.error().text;
}

} // namespace

std::vector<config::option> supported_rows() {
    return {
        {.name = "mongodb.connection.string",
         .type = option_type::secret,
         .doc = "Where the deployment is: a MongoDB connection string, with any of its options",
         .group = connection,
         .required = true,
         .check = check_connection_string,
         .allowed_text = "mongodb://... or mongodb+srv://..."},
        {.name = "mongodb.user",
         .doc = "User name, as it is (not percent-encoded); a user in the connection string wins",
         .group = connection},
        {.name = "mongodb.password",
         .type = option_type::secret,
         .doc = "Password, as it is (not percent-encoded)",
         .group = connection},
        {.name = "mongodb.authsource",
         .fallback = "admin",
         .doc = "Database that holds the user of mongodb.user",
         .group = connection},
        {.name = "mongodb.connect.timeout.ms",
         .type = option_type::duration_ms,
         .fallback = "2000",
         .doc = "Longest wait for a connection to one server (Debezium: 10000)",
         .group = connection,
         .min = 100,
         .max = most_ms},
        {.name = "mongodb.server.selection.timeout.ms",
         .type = option_type::duration_ms,
         .fallback = "30000",
         .doc =
             "Longest wait for a server that can be used, before it counts as one failed attempt",
         .group = connection,
         .min = 100,
         .max = most_ms},
        {.name = "mongodb.socket.timeout.ms",
         .type = option_type::duration_ms,
         .fallback = "60000",
         .doc = "Longest wait for a reply; at least 1000 more than cursor.max.await.time.ms "
                "(Debezium: "
                "0, no limit, which a dead connection would hang on)",
         .group = connection,
         .min = 2000,
         .max = most_ms},
        {.name = "mongodb.heartbeat.frequency.ms",
         .type = option_type::duration_ms,
         .fallback = "10000",
         .doc = "How often the member that is read from is asked whether it is still the primary; "
                "MongoDB 4.4 and later tell a change at once",
         .group = connection,
         .min = 500,
         .max = most_ms},
        {.name = "mongodb.members.auto.discover",
         .type = option_type::boolean,
         .fallback = "true",
         .doc = "The members of the set are found and the primary is read from; false: only the "
                "one host of the connection string, whatever its role (as directConnection=true "
                "there; Debezium: up to 2.3)",
         .group = connection},

        {.name = "capture.mode",
         .type = option_type::enumeration,
         .fallback = "change_streams_update_full",
         .doc = "Whether an update event carries only the change or also the document as looked up "
                "when the event is read",
         .group = capture,
         .allowed = {"change_streams", "change_streams_update_full"},
         .refused = {{"change_streams_with_pre_image", no_pre_images_yet},
                     {"change_streams_update_full_with_pre_image", no_pre_images_yet},
                     {"oplog", "reads the oplog, which is not supported yet"}}},
        {.name = "capture.scope",
         .type = option_type::enumeration,
         .fallback = "deployment",
         .doc = "What the change stream is opened on",
         .group = capture,
         .allowed = {"deployment", "database", "collection"}},
        {.name = "capture.target",
         .doc = "The database, or database.collection (cut at the first dot), of a narrow "
                "capture.scope",
         .group = capture,
         .allowed_text = "db for the scope database, db.collection for the scope collection"},
        {.name = "include.ddl.events",
         .type = option_type::boolean,
         .fallback = "false",
         .doc = "Drops and renames become control records on the topic prefix.database",
         .group = capture},
        {.name = "cursor.max.await.time.ms",
         .type = option_type::duration_ms,
         .fallback = "0",
         .doc = "How long the server holds a read back when there are no changes; 0: its default",
         .group = capture,
         .min = 0,
         .max = most_ms},
        {.name = "capture.start.from",
         .type = option_type::enumeration,
         .fallback = "now",
         .doc = "Where the first start begins, when no position is stored: now, or the oldest "
                "change that the oplog still holds (takes the right to read local.oplog.rs)",
         .group = capture,
         .allowed = {"now", "oldest"}},
        {.name = "capture.start.op.time",
         .type = option_type::integer,
         .fallback = "-1",
         .doc = "The first start begins at this cluster time (inclusive), a 64-bit BSON timestamp: "
                "seconds since 1970 * 2^32 + ordinal; -1: none",
         .group = capture,
         .min = -1,
         .check = check_start_time,
         .allowed_text = "-1, or seconds since 1970 in the upper 32 bits and the ordinal in the "
                         "lower"},
        {.name = "capture.start.token",
         .doc = "The first start begins behind this resume token",
         .group = capture,
         .check = check_start_token,
         .allowed_text = "a token's _data (hex digits), or the whole token as extended JSON"},
        {.name = "on.lost.position",
         .type = option_type::enumeration,
         .fallback = "fail",
         .doc = "When the oplog no longer reaches back to the stored position: fail, or go on from "
                "now behind a record that tells the gap (topic prefix.gap)",
         .group = capture,
         .allowed = {"fail", "from_now"}},
        {.name = "on.token.not.found",
         .type = option_type::enumeration,
         .fallback = "fail",
         .doc = "When the oplog reaches back to the stored position, but the server does not find "
                "its event (another deployment, or a fault of the server): fail, or read again "
                "from the position's time on",
         .group = capture,
         .allowed = {"fail", "from_time"}},
        {.name = "oplog.headroom.warn.ms",
         .type = option_type::duration_ms,
         .fallback = "3600000",
         .doc = "Warn when the stored position is nearer than this to the oplog's oldest entry; "
                "0: never",
         .group = capture,
         .min = 0,
         .max = most_ms},
        {.name = "cursor.oversize.handling.mode",
         .type = option_type::enumeration,
         .fallback = "fail",
         .doc = "What becomes of an event above the server's size limit (16 MiB): the connector "
                "fails, the event is left out and counted, or it is fetched in parts (MongoDB "
                "6.0.9)",
         .group = capture,
         .allowed = {"fail", "skip", "split"}},
        {.name = "cursor.oversize.skip.threshold",
         .type = option_type::bytes,
         .fallback = "0",
         .doc = "With skip, and required then: an event whose document or pre-image is larger is "
                "left out too (MongoDB 4.4)",
         .group = capture,
         .min = 0},
        {.name = "cursor.oversize.split.refused",
         .type = option_type::enumeration,
         .fallback = "fail",
         .doc = "With split, what follows when the server cannot split: the connector fails, or "
                "goes on unsplit with a warning, until an event is too large",
         .group = capture,
         .allowed = {"fail", "unsplit"}},
        {.name = "snapshot.mode",
         .type = option_type::enumeration,
         .doc = "What to do before changes are read; required here (Debezium: initial)",
         .group = capture,
         .required = true,
         .allowed = {"no_data"},
         .refused = {{"initial", no_copy_yet},
                     {"always", no_copy_yet},
                     {"initial_only", no_copy_yet},
                     {"when_needed", no_copy_yet},
                     {"configuration_based", no_copy_yet},
                     {"custom", no_copy_yet},
                     {"never", "is an old name, use no_data"}}},

        {.name = "database.include.list",
         .type = option_type::list,
         .doc = "Databases to capture; not together with database.exclude.list",
         .group = filters,
         .check = check_pattern,
         .allowed_text = pattern_text},
        {.name = "database.exclude.list",
         .type = option_type::list,
         .doc = "Databases not to capture",
         .group = filters,
         .check = check_pattern,
         .allowed_text = pattern_text},
        {.name = "collection.include.list",
         .type = option_type::list,
         .doc = "Collections to capture, as database.collection; not together with "
                "collection.exclude.list",
         .group = filters,
         .check = check_collection_pattern,
         .allowed_text = collection_pattern_text},
        {.name = "collection.exclude.list",
         .type = option_type::list,
         .doc = "Collections not to capture, as database.collection",
         .group = filters,
         .check = check_collection_pattern,
         .allowed_text = collection_pattern_text},

        {.name = "field.exclude.list",
         .type = option_type::list,
         .doc = "Fields left out of before, after and updateDescription, through arrays",
         .group = filters,
         .check = check_excluded_field,
         .allowed_text = "database.collection.field, deeper with more dots; * in database and "
                         "collection"},
        {.name = "field.renames",
         .type = option_type::list,
         .doc = "Fields renamed in before, after and updateDescription",
         .group = filters,
         .check = check_renamed_field,
         .allowed_text = "database.collection.field:new_name, deeper with more dots; * in database "
                         "and collection"},
        {.name = "skip.messages.without.change",
         .type = option_type::boolean,
         .fallback = "false",
         .doc =
             "No event of an update that touches excluded fields only (Debezium: without effect)",
         .group = filters},

        {.name = "topic.prefix",
         .doc = "Logical name of the deployment: topics are prefix.database.collection",
         .group = topics,
         .required = true,
         .check = check_topic_part,
         .allowed_text = "letters, digits, _ . and -"},
        {.name = "topic.delimiter",
         .fallback = ".",
         .doc = "Between prefix, database and collection in names of topics",
         .group = topics,
         .check = check_topic_part,
         .allowed_text = "letters, digits, _ . and -"},
        {.name = "provide.transaction.metadata",
         .type = option_type::boolean,
         .fallback = "false",
         .doc = "Events of a transaction tell it and their place in it, and records tell its begin "
                "and "
                "its end",
         .group = topics},
        {.name = "topic.transaction",
         .fallback = "transaction",
         .doc = "Topic of the begins and ends of transactions, behind topic.prefix",
         .group = topics,
         .check = check_topic_part,
         .allowed_text = "letters, digits, _ . and -"},
        {.name = "schema.name.adjustment.mode",
         .type = option_type::enumeration,
         .fallback = "none",
         .doc = "What becomes of characters in schema names that Avro does not take: they stay, "
                "become _, or _u and their code",
         .group = topics,
         .allowed = {"none", "avro", "avro_unicode"}},
        {.name = "schemas.enable",
         .type = option_type::boolean,
         .fallback = "true",
         .doc = "Keys and values are {\"schema\": ..., \"payload\": ...}, not the payload alone; a "
                "sink may override it",
         .group = topics},
        {.name = "event.shape",
         .type = option_type::enumeration,
         .fallback = "current",
         .doc =
             "Fields of a value and of its source: those of Debezium 3.x (with source.rs), of 1.8 "
             "and 1.9, or of 1.4 to 1.7 (patch and filter)",
         .group = topics,
         .allowed = {"current", "1.8", "1.4"}},
        {.name = "json.serialization.mode",
         .type = option_type::enumeration,
         .fallback = "legacy",
         .doc =
             "JSON of before, after and updatedFields: the MongoDB Java driver's STRICT, EXTENDED "
             "or RELAXED form; legacy is strict with updatedFields relaxed",
         .group = topics,
         .allowed = {"legacy", "strict", "extended", "relaxed"}},
        {.name = "json.nonfinite.numbers",
         .type = option_type::enumeration,
         .fallback = "extended",
         .doc = "NaN and infinities where legacy and strict have no JSON for them: "
                "{\"$numberDouble\": \"NaN\"}, or the bare NaN that Debezium writes and no JSON "
                "parser "
                "takes",
         .group = topics,
         .allowed = {"extended", "bare"}},
        {.name = "tombstones.on.delete",
         .type = option_type::boolean,
         .fallback = "true",
         .doc = "A delete event is followed by a record with the same key and no value",
         .group = topics},

        {.name = "max.batch.size",
         .type = option_type::integer,
         .fallback = "2048",
         .doc = "Most changes that one read asks the server for",
         .group = delivery,
         .unit = "changes",
         .min = 1,
         .max = INT32_MAX},
        {.name = "max.queue.size",
         .type = option_type::integer,
         .fallback = "8192",
         .doc = "Records that may wait for the slowest sink before reading pauses; more than "
                "max.batch.size",
         .group = delivery,
         .unit = "records",
         .min = 1,
         .max = INT32_MAX,
         .refused = {{"0", "would be a queue that takes nothing"}}},
        {.name = "max.queue.size.in.bytes",
         .type = option_type::bytes,
         .fallback = "64MiB",
         .doc = "Bytes of records that may wait for the slowest sink (Debezium: 0, no limit)",
         .group = delivery,
         .min = 1,
         .refused = {{"0", "would be a queue without a limit, which can take all memory"}}},
        {.name = "offset.flush.interval.ms",
         .type = option_type::duration_ms,
         .fallback = "1000",
         .doc = "How often positions are stored; what was delivered since is sent again after a "
                "crash (Debezium: 60000)",
         .group = delivery,
         .min = 1,
         .max = most_ms},
        {.name = "shutdown.timeout.ms",
         .type = option_type::duration_ms,
         .fallback = "10000",
         .doc = "How long a stop may deliver what was read before it gives up",
         .group = delivery,
         .min = 0,
         .max = most_ms},
    };
}

} // namespace cdc::mongodb
