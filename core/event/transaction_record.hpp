// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/event_shape.hpp"
#include "core/event/transaction_context.hpp"
#include "core/json/writer.hpp"

#include <string_view>

namespace cdc::event {

/// Keys and values of the topic `<prefix>.<topic.transaction>`, as Debezium has them: a BEGIN in
/// front of a transaction's first event, an END behind its last, with counts. One difference:
/// `data_collections` is in the order of first appearance, while Debezium's is that of a hash map.
/// `context` has the open transaction.
void write_transaction_key(json::writer& out, const transaction_context& context, event_shape shape,
                           bool with_schemas);

enum class transaction_status { begin, end };

/// `collection_prefix`: in front of collection names ("rs0." in the shapes before `current`).
void write_transaction_value(json::writer& out, transaction_status status,
                             const transaction_context& context, std::string_view collection_prefix,
                             event_shape shape, bool with_schemas);

/// The block in an event's value: `{"id":…,"total_order":…,"data_collection_order":…}`.
void write_transaction_block(json::writer& out, const transaction_context& context,
                             transaction_context::place place);

} // namespace cdc::event
