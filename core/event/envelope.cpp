// SPDX-License-Identifier: Apache-2.0
#include "core/event/envelope.hpp"

#include "core/event/control_record.hpp"
#include "core/event/envelope_schema.hpp"
#include "core/event/oplog_patch.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace cdc::event {

namespace {

using error::errc;
using outcome = error::result<void>;

outcome malformed(std::string_view part) {
    return error::fail(errc::bad_data, std::string{"malformed BSON in "}.append(part));
}

// Indices of a transaction's records within the event they belong to (record::index).
constexpr std::uint32_t end_index = 2;
constexpr std::uint32_t begin_index = 3;

/// A document as the JSON text of a string field, or null.
outcome write_document(json::writer& out, const std::optional<bson::view>& document,
                       bson::json_format format, std::string_view part) {
    if (!document) {
        out.raw("null");
        return outcome{};
    }
    out.raw(R"(")");
    if (!bson::write_json(out, *document, format, bson::json_embedding::embedded))
        return malformed(part);
    out.raw(R"(")");
    return outcome{};
}

outcome write_removed_fields(json::writer& out, bson::view names) {
    if (names.empty()) {
        out.raw("null");
        return outcome{};
    }
    char before = '[';
    bson::cursor c{names};
    while (c.next()) {
        if (c.kind() != bson::type::string)
            return malformed("updateDescription.removedFields");
        out.raw({&before, 1});
        out.string(c.as_string());
        before = ',';
    }
    if (c.malformed())
        return malformed("updateDescription.removedFields");
    out.raw("]");
    return outcome{};
}

outcome write_truncated_arrays(json::writer& out, const std::optional<bson::view>& arrays) {
    if (!arrays || arrays->empty()) {
        out.raw("null");
        return outcome{};
    }
    char before = '[';
    bson::cursor c{*arrays};
    while (c.next()) {
        if (c.kind() != bson::type::document)
            return malformed("updateDescription.truncatedArrays");
        const auto field = bson::find(c.as_document(), "field");
        const auto size = bson::find(c.as_document(), "newSize");
        const auto number = size ? size->as_integer() : std::nullopt;
        if (!field || field->kind() != bson::type::string || !number)
            return malformed("updateDescription.truncatedArrays");
        out.raw({&before, 1});
        out.raw(R"({"field":)");
        out.string(field->as_string());
        out.raw(R"(,"size":)");
        out.integer(*number);
        out.raw("}");
        before = ',';
    }
    if (c.malformed())
        return malformed("updateDescription.truncatedArrays");
    out.raw("]");
    return outcome{};
}

outcome write_update(json::writer& out,
                     const std::optional<change_event::update_description>& update,
                     bson::json_format format) {
    if (!update) {
        out.raw("null");
        return outcome{};
    }
    out.raw(R"({"removedFields":)");
    if (auto done = write_removed_fields(out, update->removed_fields); !done)
        return done;
    out.raw(R"(,"updatedFields":")");
    if (!bson::write_json(out, update->updated_fields, format, bson::json_embedding::embedded))
        return malformed("updateDescription.updatedFields");
    out.raw(R"(","truncatedArrays":)");
    if (auto done = write_truncated_arrays(out, update->truncated_arrays); !done)
        return done;
    out.raw("}");
    return outcome{};
}

/// `after`, `patch` and `filter` as if an oplog entry had been read: `{"$v": 1,"$set": …}` with the
/// fields in the entry's order.
outcome write_oplog_change(json::writer& out, const change_event& e, bson::json_format format) {
    out.raw(R"({"after":)");
    const bool whole = e.op == operation::create || e.op == operation::read;
    if (auto done = write_document(out, whole ? e.after : std::nullopt, format, "fullDocument");
        !done)
        return done;
    out.raw(R"(,"patch":)");
    if (e.op != operation::update) {
        out.raw("null");
    } else if (!e.update) {
        if (auto done = write_document(out, e.after, format, "fullDocument"); !done)
            return done;
    } else {
        const auto patch = oplog_patch(*e.update);
        if (!patch)
            return std::move(patch).error();
        if (auto done = write_document(out, patch->view(), format, "updateDescription"); !done)
            return done;
    }
    out.raw(R"(,"filter":)");
    if (auto done =
            write_document(out, whole ? std::nullopt : e.document_key, format, "documentKey");
        !done)
        return done;
    out.raw(",");
    return outcome{};
}

bool is_data(operation op) noexcept {
    return op == operation::create || op == operation::update || op == operation::remove ||
           op == operation::read;
}

/// An update whose description, or whose two documents, are without a difference. A replacement
/// without its former document may have changed anything.
bool shows_no_change(const change_event& e) {
    if (e.op != operation::update)
        return false;
    if (e.update)
        return e.update->updated_fields.empty() && e.update->removed_fields.empty() &&
               (!e.update->truncated_arrays || e.update->truncated_arrays->empty());
    return e.before && e.after && std::ranges::equal(e.before->bytes(), e.after->bytes());
}

} // namespace

envelope::envelope(options o, std::shared_ptr<topic_table> topics)
    : options_(std::move(o))
    , topics_(std::move(topics)) {
    if (options_.with_schemas)
        schema_head_ = R"({"schema":)" + envelope_schema_head(options_.connector.shape);
}

outcome envelope::write(const change_event& e, std::int64_t now_ms, record_batch_builder& to) {
    const bool is_control = e.op == operation::control && e.control != nullptr;
    if (!is_data(e.op) && !is_control)
        return outcome{};
    to.begin_event(token_text(e));
    auto written = is_control ? write_control(e, now_ms, to) : write_data(e, now_ms, to);
    if (written)
        return written;
    to.discard_event();
    error::diagnostics why = written.error();
    why.text = std::string{"change event of "}
                   .append(e.db)
                   .append(".")
                   .append(e.collection)
                   .append(" (resume token ")
                   .append(token_text(e))
                   .append("): ")
                   .append(why.text);
    return why;
}

outcome envelope::write_data(const change_event& e, std::int64_t now_ms, record_batch_builder& to) {
    const collection_texts& texts = texts_of(e);
    if (!texts.rules)
        return write_records(e, texts, now_ms, to);
    auto changed = texts.rules->apply(e, changed_);
    if (!changed)
        return std::move(changed).error();
    if (options_.skip_without_change && shows_no_change(*changed)) {
        to.discard_event();
        return outcome{};
    }
    return write_records(*changed, texts, now_ms, to);
}

outcome envelope::write_records(const change_event& e, const collection_texts& texts,
                                std::int64_t now_ms, record_batch_builder& to) {
    const bool in_transaction = options_.transactions && e.lsid && e.txn_number;
    if (in_transaction && transaction_.begins_with(e)) {
        if (!transaction_.begin(e))
            return malformed("lsid");
        to.set_next_index(begin_index);
        write_transaction_record(transaction_status::begin, to);
        to.set_next_index(0);
    }
    to.begin_record(texts.topic, e.op);
    {
        json::writer out{to.buffer()};
        if (auto done = write_key(out, e, texts); !done)
            return done;
    }
    to.begin_value();
    {
        json::writer out{to.buffer()};
        if (auto done = write_value(out, e, texts, now_ms, in_transaction); !done)
            return done;
    }
    to.end_record(false);
    if (in_transaction)
        transaction_.count_event(e);
    if (e.op != operation::remove || !options_.tombstones_on_delete)
        return outcome{};
    to.begin_record(texts.topic, e.op);
    {
        json::writer out{to.buffer()};
        if (auto done = write_key(out, e, texts); !done)
            return done;
    }
    to.begin_value();
    to.end_record(true);
    return outcome{};
}

void envelope::write_transaction_record(transaction_status status, record_batch_builder& to) {
    const auto& connector = options_.connector;
    to.begin_record(topics_->control_topic(topics_->names().transaction), operation::control);
    {
        json::writer out{to.buffer()};
        write_transaction_key(out, transaction_, connector.shape, options_.with_schemas);
    }
    to.begin_value();
    {
        const std::string prefix =
            connector.shape == event_shape::current ? std::string{} : connector.replica_set + ".";
        json::writer out{to.buffer()};
        write_transaction_value(out, status, transaction_, prefix, connector.shape,
                                options_.with_schemas);
    }
    to.end_record(false);
}

void envelope::write_transaction_end(record_batch_builder& to) {
    to.begin_event(transaction_.last_token());
    to.set_next_index(end_index);
    write_transaction_record(transaction_status::end, to);
    transaction_.end();
}

outcome envelope::write_control(const change_event& e, std::int64_t now_ms,
                                record_batch_builder& to) {
    const auto topic = topics_->control_topic(e.control->topic_suffix);
    to.begin_record(topic, e.op);
    {
        json::writer out{to.buffer()};
        write_control_key(out, *e.control, topics_->names(), *topic, options_.with_schemas);
    }
    to.begin_value();
    {
        json::writer out{to.buffer()};
        const source_info source{options_.connector, e.db, e.collection};
        if (!write_control_value(out, e, source, topics_->names(), *topic, options_.with_schemas,
                                 now_ms))
            return malformed("lsid");
    }
    to.end_record(false);
    return outcome{};
}

outcome envelope::write_key(json::writer& out, const change_event& e,
                            const collection_texts& texts) const {
    out.raw(texts.key_head);
    if (!e.id)
        out.raw("null");
    else if (!bson::write_json(out, *e.id, bson::json_format::relaxed_compact,
                               bson::json_embedding::embedded))
        return malformed("documentKey._id");
    out.raw(options_.with_schemas ? R"("}})" : R"("})");
    return outcome{};
}

outcome envelope::write_value(json::writer& out, const change_event& e,
                              const collection_texts& texts, std::int64_t now_ms,
                              bool in_transaction) const {
    out.raw(schema_head_);
    out.raw(texts.value_name);
    if (auto done = write_change(out, e); !done)
        return done;
    out.raw(R"("source":)");
    if (!texts.source.write(out, e))
        return malformed("lsid");
    const char op = static_cast<char>(e.op);
    out.raw(R"(,"op":")");
    out.raw({&op, 1});
    out.raw(R"(","ts_ms":)");
    out.integer(now_ms);
    out.raw(R"(,"transaction":)");
    if (in_transaction)
        write_transaction_block(out, transaction_, transaction_.next_place(e));
    else
        out.raw("null");
    out.raw(options_.with_schemas ? "}}" : "}");
    return outcome{};
}

outcome envelope::write_change(json::writer& out, const change_event& e) const {
    const auto shape = options_.connector.shape;
    const auto format = options_.formats.documents;
    if (shape == event_shape::v1_4)
        return write_oplog_change(out, e, format);
    if (shape == event_shape::current) {
        out.raw(R"({"before":)");
        if (auto done = write_document(out, e.before, format, "fullDocumentBeforeChange"); !done)
            return done;
        out.raw(R"(,"after":)");
    } else {
        out.raw(R"({"after":)");
    }
    if (auto done = write_document(out, e.after, format, "fullDocument"); !done)
        return done;
    out.raw(shape == event_shape::current ? R"(,"updateDescription":)"
                                          : R"(,"patch":null,"filter":null,"updateDescription":)");
    if (auto done = write_update(out, e.update, options_.formats.updated_fields); !done)
        return done;
    out.raw(",");
    return outcome{};
}

const envelope::collection_texts& envelope::texts_of(const change_event& e) {
    if (last_ && last_->db == e.db && last_->collection == e.collection)
        return *last_;
    if (const auto found = collections_.find({e.db, e.collection}); found != collections_.end())
        return *(last_ = found->second.get());

    auto topic = topics_->topic(e.db, e.collection);
    std::string key_head = R"({"id":")";
    std::string value_name;
    if (options_.with_schemas) {
        key_head = R"({"schema":)" + key_schema(schema_name(topics_->names(), *topic, "Key")) +
                   R"(,"payload":)" + key_head;
        value_name =
            R"(")" + schema_name(topics_->names(), *topic, "Envelope") + R"("},"payload":)";
    }
    auto made = std::make_unique<collection_texts>(collection_texts{
        std::string{e.db}, std::string{e.collection}, std::move(topic), std::move(key_head),
        std::move(value_name), source_info{options_.connector, e.db, e.collection},
        options_.fields ? options_.fields->of(e.db, e.collection) : nullptr});
    last_ = made.get();
    collections_.emplace(name_pair{last_->db, last_->collection}, std::move(made));
    return *last_;
}

} // namespace cdc::event
