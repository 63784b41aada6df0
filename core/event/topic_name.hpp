// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cdc::event {

/// The topic of a collection as Debezium's default strategy names it: `<prefix>.<db>.<collection>`,
/// every UTF-16 code unit outside [A-Za-z0-9._-] turned into `_`, cut to 249 characters, `.` and
/// `..` turned into `_` and `__`. Different namespaces may share a topic; topic_table notices.
std::string topic_name(std::string_view prefix, std::string_view db, std::string_view collection);

/// The topic `<prefix>.<suffix>` of control records, cleaned alike.
std::string control_topic_name(std::string_view prefix, std::string_view suffix);

/// Schema names of a topic's records (schema.name.adjustment.mode `none`).
std::string key_schema_name(std::string_view topic);
std::string envelope_schema_name(std::string_view topic);
std::string control_schema_name(std::string_view topic);

} // namespace cdc::event
