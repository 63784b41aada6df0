// SPDX-License-Identifier: Apache-2.0
#include "core/event/transaction_record.hpp"

#include <string>

namespace cdc::event {

namespace {

/// Versions came with Debezium 2.0.
const char* version(event_shape shape) noexcept {
    return shape == event_shape::current ? R"(,"version":1})" : "}";
}

void write_value_schema(json::writer& out, event_shape shape) {
    const bool current = shape == event_shape::current;
    out.raw(R"({"type":"struct","fields":[{"type":"string","optional":false,"field":"status"},)"
            R"({"type":"string","optional":false,"field":"id"},)"
            R"({"type":"int64","optional":true,"field":"event_count"},)"
            R"({"type":"array","items":{"type":"struct","fields":[)"
            R"({"type":"string","optional":false,"field":"data_collection"},)"
            R"({"type":"int64","optional":false,"field":"event_count"}],)");
    out.raw(current ? R"("optional":true,"name":"event.collection","version":1})"
                    : R"("optional":false})");
    out.raw(R"(,"optional":true,"field":"data_collections"})");
    if (current)
        out.raw(R"(,{"type":"int64","optional":false,"field":"ts_ms"})");
    out.raw(R"(],"optional":false,"name":"io.debezium.connector.common.TransactionMetadataValue")");
    out.raw(version(shape));
}

} // namespace

void write_transaction_key(json::writer& out, const transaction_context& context, event_shape shape,
                           bool with_schemas) {
    if (with_schemas) {
        out.raw(R"({"schema":{"type":"struct","fields":[{"type":"string","optional":false,)"
                R"("field":"id"}],"optional":false,)"
                R"("name":"io.debezium.connector.common.TransactionMetadataKey")");
        out.raw(version(shape));
        out.raw(R"(,"payload":)");
    }
    out.raw(R"({"id":)");
    out.string(context.id());
    out.raw(with_schemas ? "}}" : "}");
}

void write_transaction_value(json::writer& out, transaction_status status,
                             const transaction_context& context, std::string_view collection_prefix,
                             event_shape shape, bool with_schemas) {
    const bool ended = status == transaction_status::end;
    if (with_schemas) {
        out.raw(R"({"schema":)");
        write_value_schema(out, shape);
        out.raw(R"(,"payload":)");
    }
    out.raw(ended ? R"({"status":"END","id":)" : R"({"status":"BEGIN","id":)");
    out.string(context.id());
    out.raw(R"(,"event_count":)");
    if (ended) {
        out.integer(context.total());
        out.raw(R"(,"data_collections":[)");
        const char* between = "";
        for (const auto& c : context.counts()) {
            out.raw(between);
            out.raw(R"({"data_collection":)");
            out.string(std::string{collection_prefix}.append(c.collection));
            out.raw(R"(,"event_count":)");
            out.integer(c.events);
            out.raw("}");
            between = ",";
        }
        out.raw("]");
    } else {
        out.raw(R"(null,"data_collections":null)");
    }
    if (shape == event_shape::current) {
        out.raw(R"(,"ts_ms":)");
        out.integer(context.last_time_ms());
    }
    out.raw(with_schemas ? "}}" : "}");
}

void write_transaction_block(json::writer& out, const transaction_context& context,
                             transaction_context::place place) {
    out.raw(R"({"id":)");
    out.string(context.id());
    out.raw(R"(,"total_order":)");
    out.integer(place.total_order);
    out.raw(R"(,"data_collection_order":)");
    out.integer(place.collection_order);
    out.raw("}");
}

} // namespace cdc::event
