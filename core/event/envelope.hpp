// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/change_event.hpp"
#include "core/event/field_rules.hpp"
#include "core/event/json_formats.hpp"
#include "core/event/record.hpp"
#include "core/event/source_info.hpp"
#include "core/event/topic_table.hpp"
#include "core/event/transaction_record.hpp"
#include "core/json/writer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cdc::event {

/// Writes change events as Debezium-shaped records: one encoding (with or without schemas) of one
/// connector. A connector whose sinks want both has two envelopes that share a topic table; given
/// the same events they make the same records, so sequence numbers agree.
///
/// Key and value are what Kafka Connect's JsonConverter writes of Debezium's structs, byte for byte
/// but for what source_info and bson::write_json say. BSON goes straight to the batch's bytes; all
/// text that a collection's events share is made once. Lives on the connector's reactor; not
/// thread-safe.
class envelope {
  public:
    struct options {
        source_info::connector connector;
        bool with_schemas = true;         ///< schemas.enable
        bool tombstones_on_delete = true; ///< tombstones.on.delete
        json_formats formats = {};
        std::shared_ptr<const field_rules> fields = nullptr; ///< field.exclude.list, field.renames
        /// skip.messages.without.change: no record of an update that after `fields` shows no
        /// change.
        bool skip_without_change = false;
        bool transactions = false; ///< provide.transaction.metadata
    };

    /// `topics` has the same prefix as `o.connector.name`.
    envelope(options o, std::shared_ptr<topic_table> topics);

    /// Appends the records of one event to `to`: one, or two for a delete with its tombstone, one
    /// of another form for a control event (see control_record), none for other operations and for
    /// an update without a change that `skip_without_change` is about.
    /// `now_ms` is the wall clock for the top-level ts_ms; one reading serves a whole batch.
    ///
    /// Errors: bad_data when the event holds malformed BSON or `fields` cannot be applied; `to` is
    /// then as it was before, and the text names namespace, resume token and the part.
    error::result<void> write(const change_event& e, std::int64_t now_ms, record_batch_builder& to);

    /// Where the stream is in a transaction, before the next event is written; closed unless
    /// `transactions`. Who asks writes the end of one that is over first.
    transaction_context& transaction() noexcept { return transaction_; }

    /// Appends the END record of the open transaction and closes it.
    void write_transaction_end(record_batch_builder& to);

  private:
    struct collection_texts {
        std::string db;
        std::string collection;
        std::shared_ptr<const std::string> topic;
        std::string key_head;   ///< up to the text of `id`
        std::string value_name; ///< rest of the value's schema; empty without schemas
        source_info source;
        std::unique_ptr<const field_rules::collection_rules> rules; ///< null: none
    };
    struct name_pair {
        std::string_view db;
        std::string_view collection;
        bool operator==(const name_pair&) const = default;
    };
    struct name_hash {
        std::size_t operator()(const name_pair& n) const noexcept {
            return std::hash<std::string_view>{}(n.db) * 31 +
                   std::hash<std::string_view>{}(n.collection);
        }
    };

    error::result<void> write_control(const change_event& e, std::int64_t now_ms,
                                      record_batch_builder& to);
    const collection_texts& texts_of(const change_event& e);
    error::result<void> write_data(const change_event& e, std::int64_t now_ms,
                                   record_batch_builder& to);
    void write_transaction_record(transaction_status status, record_batch_builder& to);
    error::result<void> write_records(const change_event& e, const collection_texts& texts,
                                      std::int64_t now_ms, record_batch_builder& to);
    error::result<void> write_key(json::writer& out, const change_event& e,
                                  const collection_texts& texts) const;
    error::result<void> write_change(json::writer& out, const change_event& e) const;
    error::result<void> write_value(json::writer& out, const change_event& e,
                                    const collection_texts& texts, std::int64_t now_ms,
                                    bool in_transaction) const;

    options options_;
    std::shared_ptr<topic_table> topics_;
    std::string schema_head_; ///< of every value; empty without schemas
    // The keys view the names inside the entries, which therefore never move.
    std::unordered_map<name_pair, std::unique_ptr<collection_texts>, name_hash> collections_;
    const collection_texts* last_ = nullptr;
    transaction_context transaction_;
    field_rules::collection_rules::buffers changed_; ///< what the rules make of the present event
};

} // namespace cdc::event
