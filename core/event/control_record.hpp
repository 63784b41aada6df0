// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/source_info.hpp"
#include "core/event/topic_name.hpp"
#include "core/json/writer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::event {

/// What a control event tells: something about the stream or its namespaces and not about one
/// document (a collection was dropped, a stretch of the history is missing). It becomes one record,
///     topic  <prefix>.<topic_suffix>
///     key    {"id":"<key>"}
///     value  {"source":{…},"type":"…","ns":{"db":"…","coll":"…"}|null,"to":…,<more>,"ts_ms":…}
/// with schemas named `<topic>.Key` and `<topic>.Control` where the encoding has them. Position and
/// acknowledgement are those of any event. This record is not Debezium's, which drops such events.
///
/// Rare, so nothing is kept ready for it. A batch owns it; change_event::control points to it.
struct control_record {
    struct name {
        std::string db;
        std::optional<std::string> collection; ///< nothing: the whole database
    };
    struct field {
        std::string name; ///< distinct from those above; part of the schema
        std::optional<std::string> value;
    };

    std::string topic_suffix;
    std::string key;
    std::string type;
    std::optional<name> ns;
    std::optional<name> to; ///< the new name of what was renamed
    /// Further text fields in their order. Records of one topic must agree about the names.
    std::vector<field> more;
};

/// The key. `topic` is the whole topic.
void write_control_key(json::writer& out, const control_record& control, const naming& names,
                       std::string_view topic, bool with_schemas);

/// The value of `e`, whose `control` is set. `source` belongs to the event's namespace. Errors:
/// bad_data when `lsid` is malformed; `out` then holds a part of the value.
error::result<void> write_control_value(json::writer& out, const change_event& e,
                                        const source_info& source, const naming& names,
                                        std::string_view topic, bool with_schemas,
                                        std::int64_t now_ms);

} // namespace cdc::event
