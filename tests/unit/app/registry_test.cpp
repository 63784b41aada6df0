// SPDX-License-Identifier: Apache-2.0
#include "core/app/registry.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace cdc;

TEST_CASE("the registry knows its sources and sinks by name", "[app]") {
    const auto known = app::make_registry();
    REQUIRE(known.source("mongodb"));
    CHECK(known.source("mongodb")->options->name() == "mongodb");
    CHECK_FALSE(known.source("mongo"));
    CHECK_FALSE(known.sink("kafka"));
    for (const char* name : {"file", "webhook", "discard"}) {
        REQUIRE(known.sink(name));
        CHECK(known.sink(name)->options->name() == name);
        CHECK(known.sink(name)->make);
    }
}

TEST_CASE("the registry's tables belong to its names", "[app]") {
    const auto known = app::make_registry();
    CHECK(known.tables().size() == 1 + known.sources.size() + known.sinks.size());
    CHECK(known.kinds().sources.size() == known.sources.size());
    CHECK(known.kinds().sinks.size() == known.sinks.size());
}

TEST_CASE("every key of a Debezium MongoDB connector has a row", "[app]") {
    const auto known = app::make_registry();
    const auto& table = *known.source("mongodb")->options;
    for (const char* key : {"name",
                            "connector.class",
                            "tasks.max",
                            "mongodb.connection.string",
                            "mongodb.user",
                            "mongodb.password",
                            "mongodb.authsource",
                            "mongodb.authentication.class",
                            "mongodb.ssl.enabled",
                            "mongodb.ssl.invalid.hostname.allowed",
                            "mongodb.ssl.keystore",
                            "mongodb.ssl.keystore.password",
                            "mongodb.ssl.keystore.type",
                            "mongodb.ssl.truststore",
                            "mongodb.ssl.truststore.password",
                            "mongodb.ssl.truststore.type",
                            "mongodb.connect.timeout.ms",
                            "mongodb.server.selection.timeout.ms",
                            "mongodb.socket.timeout.ms",
                            "mongodb.heartbeat.frequency.ms",
                            "mongodb.poll.interval.ms",
                            "internal.mongodb.allow.offset.invalidation",
                            "connection.validation.timeout.ms",
                            "filters.match.mode",
                            "database.include.list",
                            "database.exclude.list",
                            "collection.include.list",
                            "collection.exclude.list",
                            "field.exclude.list",
                            "field.renames",
                            "snapshot.include.collection.list",
                            "snapshot.collection.filter.overrides",
                            "snapshot.collection.filter.overrides.db.coll",
                            "skipped.operations",
                            "skip.messages.without.change",
                            "capture.mode",
                            "capture.mode.full.update.type",
                            "capture.scope",
                            "capture.target",
                            "capture.start.op.time",
                            "json.serialization.mode",
                            "cursor.max.await.time.ms",
                            "cursor.pipeline",
                            "cursor.pipeline.order",
                            "cursor.oversize.handling.mode",
                            "cursor.oversize.skip.threshold",
                            "snapshot.mode",
                            "snapshot.mode.configuration.based.snapshot.data",
                            "snapshot.mode.configuration.based.start.stream",
                            "snapshot.mode.custom.name",
                            "snapshot.max.threads",
                            "snapshot.max.threads.multiplier",
                            "legacy.snapshot.max.threads",
                            "snapshot.delay.ms",
                            "streaming.delay.ms",
                            "snapshot.fetch.size",
                            "query.fetch.size",
                            "incremental.snapshot.chunk.size",
                            "incremental.snapshot.watermarking.strategy",
                            "incremental.snapshot.allow.schema.changes",
                            "signal.data.collection",
                            "signal.enabled.channels",
                            "signal.poll.interval.ms",
                            "signal.emit.failure.max.retries",
                            "signal.emit.failure.backoff.ms",
                            "signal.kafka.topic",
                            "signal.kafka.bootstrap.servers",
                            "signal.kafka.groupId",
                            "signal.kafka.poll.timeout.ms",
                            "signal.consumer.x",
                            "signal.file",
                            "notification.enabled.channels",
                            "notification.sink.topic.name",
                            "topic.prefix",
                            "topic.naming.strategy",
                            "topic.delimiter",
                            "topic.cache.size",
                            "topic.heartbeat.prefix",
                            "topic.heartbeat.name",
                            "heartbeat.topics.prefix",
                            "topic.transaction",
                            "heartbeat.interval.ms",
                            "tombstones.on.delete",
                            "provide.transaction.metadata",
                            "transaction.metadata.factory",
                            "schema.name.adjustment.mode",
                            "field.name.adjustment.mode",
                            "sourceinfo.struct.maker",
                            "extended.headers.enabled",
                            "converters",
                            "post.processors",
                            "binary.handling.mode",
                            "max.batch.size",
                            "max.queue.size",
                            "max.queue.size.in.bytes",
                            "poll.interval.ms",
                            "poll.dispatch.interval.ms",
                            "queue.provider.type",
                            "retriable.restart.connector.wait.ms",
                            "errors.max.retries",
                            "event.processing.failure.handling.mode",
                            "event.converting.failure.handling.mode",
                            "executor.shutdown.timeout.ms",
                            "guardrail.collections.max",
                            "guardrail.collections.limit.action",
                            "statistics.metrics.enabled",
                            "custom.metric.tags",
                            "custom.sanitize.pattern",
                            "openlineage.integration.enabled",
                            "internal.log.position.check.enable",
                            "offset.flush.interval.ms",
                            "mongodb.hosts",
                            "mongodb.name",
                            "mongodb.members.auto.discover",
                            "transaction.topic",
                            "sanitize.field.names",
                            "source.struct.version",
                            "connect.backoff.initial.delay.ms",
                            "connect.backoff.max.delay.ms",
                            "connect.max.attempts",
                            "mongodb.poll.interval.sec",
                            "initial.sync.max.threads",
                            "database.whitelist",
                            "database.blacklist",
                            "collection.whitelist",
                            "collection.blacklist",
                            "field.blacklist",
                            "mongodb.connection.mode",
                            "mongodb.connection.string.shard.params",
                            "mongodb.replica.sets",
                            "key.converter",
                            "value.converter.schemas.enable"}) {
        CAPTURE(key);
        CHECK(table.find(key));
    }
}

TEST_CASE("every renamed key names one that is known", "[app]") {
    const auto known = app::make_registry();
    for (const auto* table : known.tables()) {
        for (const auto& row : table->rows()) {
            CAPTURE(row.name);
            if (row.status == config::option_status::renamed)
                CHECK(table->find(row.instead));
        }
    }
}
