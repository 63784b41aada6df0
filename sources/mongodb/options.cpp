// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/options.hpp"

#include "core/config/option_table.hpp"
#include "core/config/values.hpp"
#include "sources/mongodb/connection_string_check.hpp"
#include "sources/mongodb/option_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cdc::mongodb {

namespace {

using namespace std::chrono_literals;

/// What the server waits when cursor.max.await.time.ms is 0 (MongoDB's default of maxTimeMS for a
/// getMore on a tailable cursor with awaitData).
constexpr auto server_await = 1000ms;
constexpr auto reply_margin = 1000ms;

void check_lists(config::option_check& check) {
    for (const std::string_view kind : {"database", "collection"}) {
        const std::string include = fmt::format("{}.include.list", kind);
        const std::string exclude = fmt::format("{}.exclude.list", kind);
        if (check.of().given(include) && check.of().given(exclude))
            check.mistake(exclude, fmt::format("cannot be together with {}", include));
    }
}

void check_target(config::option_check& check) {
    const auto& of = check.of();
    if (!of.has("capture.scope"))
        return;
    const std::string& scope = of.text("capture.scope");
    if (scope == "deployment") {
        if (of.given("capture.target"))
            check.mistake(
                "capture.target",
                "has no meaning with capture.scope deployment: leave it out or narrow the "
                "scope");
        return;
    }
    if (!of.has("capture.target")) {
        if (!of.given("capture.target"))
            check.mistake("capture.target", fmt::format("is missing: capture.scope is {}", scope),
                          scope == "database" ? "db" : "db.collection");
        return;
    }
    const std::string& target = of.text("capture.target");
    const auto dot = target.find('.');
    const std::string db = target.substr(0, dot);
    if (scope == "database" && dot != std::string::npos)
        check.mistake("capture.target", "holds a dot: with capture.scope database it is a database",
                      "db");
    else if (scope == "collection" &&
             (dot == std::string::npos || dot == 0 || dot + 1 == target.size()))
        check.mistake("capture.target", "is not a collection, but capture.scope is",
                      "db.collection");
    else if (db == "admin" || db == "config" || db == "local")
        check.mistake("capture.target", "is in a database of the server itself, which is never "
                                        "captured");
}

void check_limits(config::option_check& check) {
    const auto& of = check.of();
    if (of.has("mongodb.socket.timeout.ms") && of.has("cursor.max.await.time.ms")) {
        const auto await = of.duration("cursor.max.await.time.ms");
        const auto least = (await == 0ms ? server_await : await) + reply_margin;
        if (of.duration("mongodb.socket.timeout.ms") < least)
            check.mistake("mongodb.socket.timeout.ms",
                          "is too short: a reply may rightly take cursor.max.await.time.ms",
                          fmt::format("{} or more", least.count()));
    }
    if (of.has("max.queue.size") && of.has("max.batch.size") &&
        of.integer("max.queue.size") <= of.integer("max.batch.size"))
        check.mistake("max.queue.size", fmt::format("is not larger than max.batch.size ({})",
                                                    of.integer("max.batch.size")));
    if (of.given("mongodb.password") && !of.given("mongodb.user"))
        check.mistake("mongodb.user", "is missing: mongodb.password is given");
}

void check_serialization(config::option_check& check) {
    const auto& of = check.of();
    if (!of.has("json.nonfinite.numbers") || of.text("json.nonfinite.numbers") != "bare" ||
        !of.has("json.serialization.mode"))
        return;
    const std::string& mode = of.text("json.serialization.mode");
    if (mode == "extended" || mode == "relaxed")
        check.mistake("json.nonfinite.numbers",
                      "has no bare form in json.serialization.mode " + mode, "extended");
}

void check_members(config::option_check& check) {
    const auto& of = check.of();
    if (of.has("mongodb.members.auto.discover") && !of.boolean("mongodb.members.auto.discover") &&
        of.has("mongodb.connection.string") &&
        !names_one_host(of.text("mongodb.connection.string")))
        check.mistake("mongodb.members.auto.discover",
                      "is false, which stays on one host, but mongodb.connection.string names more "
                      "than one",
                      "true, or a connection string mongodb://host:port/... with one host");
}

void check_shape(config::option_check& check) {
    const auto& of = check.of();
    if (of.has("event.shape") && of.text("event.shape") == "1.4" && of.has("capture.mode") &&
        of.text("capture.mode") != "change_streams")
        check.mistake("capture.mode", "looks up documents that event.shape 1.4 has no place for",
                      "change_streams");
}

void check_start(config::option_check& check) {
    const auto& of = check.of();
    const bool time = of.has("capture.start.op.time") && of.integer("capture.start.op.time") != -1;
    const bool token = of.given("capture.start.token");
    if (time && token)
        check.mistake("capture.start.token", "cannot be together with capture.start.op.time");
    if ((time || token) && of.given("capture.start.from"))
        check.mistake("capture.start.from",
                      fmt::format("cannot be together with {}",
                                  time ? "capture.start.op.time" : "capture.start.token"));
}

void check_oversize(config::option_check& check) {
    const auto& of = check.of();
    if (!of.has("cursor.oversize.handling.mode") || !of.has("cursor.oversize.skip.threshold"))
        return;
    const bool skip = of.text("cursor.oversize.handling.mode") == "skip";
    const bool threshold = of.bytes("cursor.oversize.skip.threshold") > 0;
    if (skip && !threshold)
        check.mistake("cursor.oversize.skip.threshold",
                      "must be above 0 with cursor.oversize.handling.mode skip", "1MiB");
    if (!skip && threshold)
        check.mistake("cursor.oversize.skip.threshold",
                      "has no meaning without cursor.oversize.handling.mode skip");
}

void check_all(config::option_check& check) {
    check_oversize(check);
    check_shape(check);
    check_serialization(check);
    check_members(check);
    check_lists(check);
    check_target(check);
    check_start(check);
    check_limits(check);
}

event::json_serialization_mode serialization_mode(std::string_view name) {
    if (name == "strict")
        return event::json_serialization_mode::strict;
    if (name == "extended")
        return event::json_serialization_mode::extended;
    if (name == "relaxed")
        return event::json_serialization_mode::relaxed;
    return event::json_serialization_mode::legacy;
}

} // namespace

const config::option_table& option_table() {
    static const config::option_table table(
        "mongodb", "Connectors of `source: mongodb`",
        [] {
            auto rows = supported_rows();
            auto others = other_debezium_rows();
            rows.insert(rows.end(), others.begin(), others.end());
            return rows;
        }(),
        check_all);
    return table;
}

connector_options make_connector_options(const config::values& values) {
    connector_options out;
    const auto text = [&](std::string_view name) {
        return values.has(name) ? values.text(name) : std::string();
    };
    out.connection_string = values.text("mongodb.connection.string");
    out.user = text("mongodb.user");
    out.password = text("mongodb.password");
    out.auth_source = values.text("mongodb.authsource");
    out.connect_timeout = values.duration("mongodb.connect.timeout.ms");
    out.server_selection_timeout = values.duration("mongodb.server.selection.timeout.ms");
    out.socket_timeout = values.duration("mongodb.socket.timeout.ms");

    out.members_auto_discover = values.boolean("mongodb.members.auto.discover");
    out.heartbeat_frequency = values.duration("mongodb.heartbeat.frequency.ms");

    out.names.prefix = values.text("topic.prefix");
    out.names.delimiter = values.text("topic.delimiter");
    out.names.transaction = values.text("topic.transaction");
    out.transaction_metadata = values.boolean("provide.transaction.metadata");
    const std::string& adjustment = values.text("schema.name.adjustment.mode");
    if (adjustment != "none")
        out.names.schema_names = adjustment == "avro" ? event::name_adjustment::avro
                                                      : event::name_adjustment::avro_unicode;

    out.capture_mode = values.text("capture.mode") == "change_streams"
                           ? capture_mode::change_streams
                           : capture_mode::change_streams_update_full;
    const std::string& scope = values.text("capture.scope");
    if (scope != "deployment") {
        const std::string& target = values.text("capture.target");
        const auto dot = target.find('.');
        out.target_db = target.substr(0, dot);
        out.capture_scope = capture_scope::database;
        if (scope == "collection") {
            out.capture_scope = capture_scope::collection;
            out.target_collection = target.substr(dot + 1);
        }
    }
    const std::string& oversize = values.text("cursor.oversize.handling.mode");
    out.oversize = oversize == "skip"    ? cursor::oversize_mode::skip
                   : oversize == "split" ? cursor::oversize_mode::split
                                         : cursor::oversize_mode::fail;
    out.oversize_threshold =
        static_cast<std::size_t>(values.bytes("cursor.oversize.skip.threshold"));
    out.unsplit_allowed = values.text("cursor.oversize.split.refused") == "unsplit";
    out.include_ddl_events = values.boolean("include.ddl.events");
    out.max_await_time = values.duration("cursor.max.await.time.ms");

    out.start_at_oldest = values.text("capture.start.from") == "oldest";
    out.start_op_time = values.integer("capture.start.op.time");
    out.start_token = text("capture.start.token");
    if (values.text("on.lost.position") == "from_now")
        out.on_lost_position = lost_position_mode::from_now;
    if (values.text("on.token.not.found") == "from_time")
        out.on_token_not_found = missing_token_mode::from_time;
    out.oplog_headroom_warn = values.duration("oplog.headroom.warn.ms");

    out.database_include = values.list("database.include.list");
    out.database_exclude = values.list("database.exclude.list");
    out.collection_include = values.list("collection.include.list");
    out.collection_exclude = values.list("collection.exclude.list");

    out.field_exclude = values.list("field.exclude.list");
    out.field_renames = values.list("field.renames");
    out.skip_without_change = values.boolean("skip.messages.without.change");

    out.tombstones_on_delete = values.boolean("tombstones.on.delete");
    const std::string& shape = values.text("event.shape");
    out.event_shape = shape == "1.8"   ? event::event_shape::v1_8
                      : shape == "1.4" ? event::event_shape::v1_4
                                       : event::event_shape::current;
    out.json_serialization = serialization_mode(values.text("json.serialization.mode"));
    out.bare_nonfinite_numbers = values.text("json.nonfinite.numbers") == "bare";
    out.max_batch_size = static_cast<std::size_t>(values.integer("max.batch.size"));
    out.max_queue_size = static_cast<std::size_t>(values.integer("max.queue.size"));
    out.max_queue_bytes = static_cast<std::size_t>(values.bytes("max.queue.size.in.bytes"));
    out.offset_flush_interval = values.duration("offset.flush.interval.ms");
    out.schemas_enable = values.boolean("schemas.enable");
    out.shutdown_timeout = values.duration("shutdown.timeout.ms");
    return out;
}

} // namespace cdc::mongodb
