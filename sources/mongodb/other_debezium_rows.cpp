// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/option_rows.hpp"

#include <string_view>
#include <utility>

namespace cdc::mongodb {

namespace {

using config::option;
using config::option_status;

/// A key of a later version. `harmless`: values that ask for what happens anyway.
option later(std::string_view name, std::vector<std::string_view> harmless = {},
             std::string_view hint = {}) {
    return {.name = name,
            .doc = "Not supported yet",
            .allowed = std::move(harmless),
            .status = option_status::not_supported_yet,
            .instead = hint};
}

/// A key of a later version with everything below it.
option later_with_all_below(std::string_view name) {
    option row = later(name);
    row.prefix = true;
    return row;
}

option renamed(std::string_view name, std::string_view today) {
    return {.name = name, .status = option_status::renamed, .instead = today};
}

option removed(std::string_view name, std::string_view what_now) {
    return {.name = name, .status = option_status::removed, .instead = what_now};
}

option ignored(std::string_view name, std::string_view why, bool all_below = false) {
    return {.name = name, .prefix = all_below, .status = option_status::ignored, .instead = why};
}

constexpr std::string_view tls_in_uri =
    "TLS is set in mongodb.connection.string (tls=true, tlsCAFile=..., tlsCertificateKeyFile=...)";
constexpr std::string_view no_converters =
    "records are JSON; whether they carry their schema is set by schemas.enable";
constexpr std::string_view no_effect = "it has no effect";
constexpr std::string_view by_driver = "connecting again is never given up";

} // namespace

std::vector<option> other_debezium_rows() {
    return {
        // Connection
        later("mongodb.authentication.class"),
        later("mongodb.ssl.enabled", {"false"}, tls_in_uri),
        later("mongodb.ssl.invalid.hostname.allowed", {"false"}, tls_in_uri),
        later("mongodb.ssl.keystore", {}, tls_in_uri),
        later("mongodb.ssl.keystore.password", {}, tls_in_uri),
        later("mongodb.ssl.keystore.type", {}, tls_in_uri),
        later("mongodb.ssl.truststore", {}, tls_in_uri),
        later("mongodb.ssl.truststore.password", {}, tls_in_uri),
        later("mongodb.ssl.truststore.type", {}, tls_in_uri),
        later("connection.validation.timeout.ms"),

        // Filters
        later("filters.match.mode", {"regex"}),
        later("skipped.operations", {"none", "t"}),

        // Capture
        later("capture.mode.full.update.type", {"lookup"}),
        later("cursor.pipeline", {"[]"}),
        later("cursor.pipeline.order", {"internal_first"}),

        // Snapshot
        later_with_all_below("snapshot.mode.configuration.based"),
        later("snapshot.mode.custom.name"),
        later("snapshot.include.collection.list"),
        later_with_all_below("snapshot.collection.filter.overrides"),
        later("snapshot.max.threads", {"1"}),
        later("snapshot.delay.ms", {"0"}),
        later("snapshot.fetch.size", {"0"}),
        later("streaming.delay.ms", {"0"}),
        later("incremental.snapshot.chunk.size"),
        later("incremental.snapshot.watermarking.strategy"),

        // Signals and notifications
        later("signal.data.collection"),
        later("signal.enabled.channels"),
        later("signal.poll.interval.ms"),
        later("signal.emit.failure.max.retries"),
        later("signal.emit.failure.backoff.ms"),
        later_with_all_below("signal.kafka"),
        later_with_all_below("signal.consumer"),
        later("signal.file"),
        later("notification.enabled.channels"),
        later("notification.sink.topic.name"),

        // Topics, keys, payload
        later("topic.naming.strategy"),
        later("topic.heartbeat.prefix"),
        later("topic.heartbeat.name"),
        later("heartbeat.interval.ms", {"0"}),
        later("transaction.metadata.factory"),
        later("field.name.adjustment.mode", {"none"}),
        later("sourceinfo.struct.maker"),
        later("extended.headers.enabled", {"false"}),
        later_with_all_below("converters"),
        later_with_all_below("post.processors"),
        later_with_all_below("transforms"),
        later_with_all_below("predicates"),

        // Errors and others
        later("queue.provider.type", {"memory"}),
        later("retriable.restart.connector.wait.ms"),
        later("errors.max.retries", {"-1"}),
        later("event.processing.failure.handling.mode", {"fail"}),
        later("event.converting.failure.handling.mode", {"fail"}),
        later("executor.shutdown.timeout.ms", {}, "use shutdown.timeout.ms"),
        later("guardrail.collections.max", {"0"}),
        later("guardrail.collections.limit.action"),
        later("statistics.metrics.enabled", {"false"}),
        later("custom.metric.tags"),
        later("custom.sanitize.pattern"),
        later_with_all_below("openlineage.integration"),
        later_with_all_below("internal"),

        // Old names
        renamed("mongodb.hosts", "mongodb.connection.string"),
        renamed("mongodb.name", "topic.prefix"),
        renamed("transaction.topic", "topic.transaction"),
        renamed("sanitize.field.names", "field.name.adjustment.mode"),
        renamed("heartbeat.topics.prefix", "topic.heartbeat.prefix"),
        renamed("mongodb.poll.interval.sec", "mongodb.poll.interval.ms"),
        renamed("initial.sync.max.threads", "snapshot.max.threads"),
        renamed("database.whitelist", "database.include.list"),
        renamed("database.blacklist", "database.exclude.list"),
        renamed("collection.whitelist", "collection.include.list"),
        renamed("collection.blacklist", "collection.exclude.list"),
        renamed("field.blacklist", "field.exclude.list"),
        removed("source.struct.version", "there is one version"),
        removed("connect.backoff.initial.delay.ms", by_driver),
        removed("connect.backoff.max.delay.ms", by_driver),
        removed("connect.max.attempts", by_driver),
        removed("mongodb.connection.mode", "mongodb.connection.string says it all"),
        removed("mongodb.connection.string.shard.params", "mongodb.connection.string says it all"),
        removed("mongodb.replica.sets", "use mongodb.connection.string"),

        // Not of this program, or without meaning
        ignored("name", "a connector's name is its key below connectors"),
        ignored("connector.class", "the source says it"),
        ignored("tasks.max", "each connector is one task"),
        ignored("key.converter", no_converters, true),
        ignored("value.converter", no_converters, true),
        ignored("header.converter", no_converters, true),
        ignored("offset.storage", "positions are kept in state.path", true),
        ignored("offset.flush.timeout.ms", no_effect),
        ignored("poll.interval.ms", "changes are delivered as they arrive"),
        ignored("poll.dispatch.interval.ms", "changes are delivered as they arrive"),
        ignored("mongodb.poll.interval.ms", "members are discovered by the driver"),
        ignored("query.fetch.size", no_effect),
        ignored("topic.cache.size", no_effect),
        ignored("binary.handling.mode", no_effect),
        ignored("incremental.snapshot.allow.schema.changes", no_effect),
        ignored("snapshot.max.threads.multiplier", no_effect),
        ignored("legacy.snapshot.max.threads", no_effect),
    };
}

} // namespace cdc::mongodb
