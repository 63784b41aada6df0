// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/name_adjustment.hpp"

#include <string>
#include <string_view>

namespace cdc::event {

/// How a connector names topics and the schemas of their records.
struct naming {
    std::string prefix;                                   ///< topic.prefix
    std::string delimiter = ".";                          ///< topic.delimiter
    name_adjustment schema_names = name_adjustment::none; ///< schema.name.adjustment.mode
    std::string transaction = "transaction";              ///< topic.transaction, behind the prefix
};

/// The topic of a collection as Debezium's default strategy names it: `<prefix>.<db>.<collection>`
/// with the delimiter for the dots, every UTF-16 code unit outside [A-Za-z0-9._-] turned into `_`,
/// cut to 249 characters, `.` and `..` turned into `_` and `__`. Different namespaces may share a
/// topic; topic_table notices.
std::string topic_name(const naming& names, std::string_view db, std::string_view collection);

/// The topic `<prefix>.<suffix>` of records that belong to no collection, made alike.
std::string control_topic_name(const naming& names, std::string_view suffix);

/// The schema name `<topic>.<kind>`, adjusted. Kinds: Key, Envelope, Control.
std::string schema_name(const naming& names, std::string_view topic, std::string_view kind);

} // namespace cdc::event
