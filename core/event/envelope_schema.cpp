// SPDX-License-Identifier: Apache-2.0
#include "core/event/envelope_schema.hpp"

#include "core/event/source_info.hpp"

namespace cdc::event {

namespace {

std::string json_field(std::string_view name) {
    return std::string{R"({"type":"string","optional":true,"name":"io.debezium.data.Json",)"
                       R"("version":1,"field":")"}
        .append(name)
        .append(R"("})");
}

} // namespace

std::string key_schema(std::string_view name) {
    return R"({"type":"struct","fields":[{"type":"string","optional":false,"field":"id"}],)"
           R"("optional":false,"name":")" +
           std::string{name} + R"("})";
}

std::string envelope_schema_head(event_shape shape) {
    const bool current = shape == event_shape::current;
    // The structs got their versions, and two of them their names, with Debezium 2.0.
    const std::string version = current ? R"("version":1,)" : "";
    std::string out = R"({"type":"struct","fields":[)";
    if (current)
        out += json_field("before") + "," + json_field("after") + ",";
    else
        out += json_field("after") + "," + json_field("patch") + "," + json_field("filter") + ",";
    if (shape != event_shape::v1_4) {
        out += R"({"type":"struct","fields":[)"
               R"({"type":"array","items":{"type":"string","optional":false},"optional":true,)"
               R"("field":"removedFields"},)";
        out += json_field("updatedFields");
        out += R"(,{"type":"array","items":{"type":"struct","fields":[)"
               R"({"type":"string","optional":false,"field":"field"},)"
               R"({"type":"int32","optional":false,"field":"size"}],"optional":false,)"
               R"("name":"io.debezium.connector.mongodb.changestream.truncatedarray")";
        out += current ? R"(,"version":1},)" : "},";
        out += R"("optional":true,"field":"truncatedArrays"}],"optional":true,)"
               R"("name":"io.debezium.connector.mongodb.changestream.updatedescription",)" +
               version + R"("field":"updateDescription"},)";
    }
    out += source_info::schema(shape);
    out += R"(,{"type":"string","optional":true,"field":"op"},)"
           R"({"type":"int64","optional":true,"field":"ts_ms"},)"
           R"({"type":"struct","fields":[{"type":"string","optional":false,"field":"id"},)"
           R"({"type":"int64","optional":false,"field":"total_order"},)"
           R"({"type":"int64","optional":false,"field":"data_collection_order"}],)"
           R"("optional":true,)";
    if (current)
        out += R"("name":"event.block",)";
    out += version + R"("field":"transaction"}],"optional":false,"name":)";
    return out;
}

} // namespace cdc::event
