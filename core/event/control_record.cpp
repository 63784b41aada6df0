// SPDX-License-Identifier: Apache-2.0
#include "core/event/control_record.hpp"

#include "core/event/envelope_schema.hpp"

namespace cdc::event {

namespace {

void write_name(json::writer& out, const std::optional<control_record::name>& name) {
    if (!name) {
        out.raw("null");
        return;
    }
    out.raw(R"({"db":)");
    out.string(name->db);
    out.raw(R"(,"coll":)");
    if (name->collection)
        out.string(*name->collection);
    else
        out.raw("null");
    out.raw("}");
}

void write_name_schema(json::writer& out, std::string_view field) {
    out.raw(R"({"type":"struct","fields":[{"type":"string","optional":false,"field":"db"},)"
            R"({"type":"string","optional":true,"field":"coll"}],"optional":true,"field":)");
    out.string(field);
    out.raw("},");
}

void write_schema(json::writer& out, const control_record& control, event_shape shape,
                  const naming& names, std::string_view topic) {
    out.raw(R"({"type":"struct","fields":[)");
    out.raw(source_info::schema(shape));
    out.raw(R"(,{"type":"string","optional":false,"field":"type"},)");
    write_name_schema(out, "ns");
    write_name_schema(out, "to");
    for (const auto& f : control.more) {
        out.raw(R"({"type":"string","optional":true,"field":)");
        out.string(f.name);
        out.raw("},");
    }
    out.raw(R"({"type":"int64","optional":true,"field":"ts_ms"}],"optional":false,"name":)");
    out.string(schema_name(names, topic, "Control"));
    out.raw("}");
}

} // namespace

void write_control_key(json::writer& out, const control_record& control, const naming& names,
                       std::string_view topic, bool with_schemas) {
    if (with_schemas) {
        out.raw(R"({"schema":)");
        out.raw(key_schema(schema_name(names, topic, "Key")));
        out.raw(R"(,"payload":)");
    }
    out.raw(R"({"id":)");
    out.string(control.key);
    out.raw(with_schemas ? "}}" : "}");
}

error::result<void> write_control_value(json::writer& out, const change_event& e,
                                        const source_info& source, const naming& names,
                                        std::string_view topic, bool with_schemas,
                                        std::int64_t now_ms) {
    const control_record& control = *e.control;
    if (with_schemas) {
        out.raw(R"({"schema":)");
        write_schema(out, control, source.shape(), names, topic);
        out.raw(R"(,"payload":)");
    }
    out.raw(R"({"source":)");
    if (auto done = source.write(out, e); !done)
        return done;
    out.raw(R"(,"type":)");
    out.string(control.type);
    out.raw(R"(,"ns":)");
    write_name(out, control.ns);
    out.raw(R"(,"to":)");
    write_name(out, control.to);
    for (const auto& f : control.more) {
        out.raw(",");
        out.string(f.name);
        out.raw(":");
        if (f.value)
            out.string(*f.value);
        else
            out.raw("null");
    }
    out.raw(R"(,"ts_ms":)");
    out.integer(now_ms);
    out.raw(with_schemas ? "}}" : "}");
    return error::result<void>{};
}

} // namespace cdc::event
