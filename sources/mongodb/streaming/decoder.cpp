// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/decoder.hpp"

#include "core/event/position.hpp"

#include <string>

namespace cdc::mongodb::streaming {

namespace {

using bson::cursor;
using bson::type;
using event::operation;

operation operation_of(std::string_view word) noexcept {
    if (word == "insert")
        return operation::create;
    if (word == "update" || word == "replace")
        return operation::update;
    if (word == "delete")
        return operation::remove;
    if (word == "invalidate")
        return operation::invalidate;
    return operation::other;
}

bool is_data(operation op) noexcept {
    return op == operation::create || op == operation::update || op == operation::remove;
}

/// One document while it is read: the event so far and the first thing found wrong.
class reader {
  public:
    error::result<event::change_event> read(bson::view change) {
        cursor c{change};
        while (c.next())
            field(c);
        if (c.malformed())
            return fault("is malformed BSON");
        out_.op = operation_of(out_.operation_type);
        if (token_.empty())
            return fault("has no resume token");
        if (out_.operation_type.empty())
            return fault("has no operationType");
        if (!is_data(out_.op)) {
            // Nothing is made of the event, but its position is stored like any other.
            if (!has_time_)
                out_.cluster_time = event::position::time_of(token_).value_or(bson::timestamp{});
            out_.update.reset();
            return out_;
        }
        return data_event();
    }

  private:
    void field(const cursor& c) {
        const std::string_view name = c.name();
        switch (name.size()) {
        case 2:
            if (name == "ns" && is_document(c))
                read_namespace(c.as_document());
            break;
        case 3:
            if (name == "_id" && is_document(c))
                read_token(c.as_document());
            break;
        case 4:
            if (name == "lsid" && is_document(c))
                out_.lsid = c.as_document();
            break;
        case 8:
            if (name == "wallTime" && is(c, type::date))
                out_.wall_time_ms = c.as_date_ms();
            break;
        case 9:
            if (name == "txnNumber") {
                out_.txn_number = c.as_integer();
                if (!out_.txn_number)
                    wrong("txnNumber");
            }
            break;
        case 11:
            if (name == "clusterTime" && is(c, type::timestamp)) {
                out_.cluster_time = c.as_timestamp();
                has_time_ = true;
            } else if (name == "documentKey" && is_document(c)) {
                out_.document_key = c.as_document();
                read_key(c.as_document());
            }
            break;
        case 12:
            if (name == "fullDocument")
                document_or_null(c, out_.after);
            break;
        case 13:
            if (name == "operationType" && is(c, type::string))
                out_.operation_type = c.as_string();
            break;
        case 17:
            if (name == "updateDescription" && is_document(c))
                read_update(c.as_document());
            break;
        case 24:
            if (name == "fullDocumentBeforeChange")
                document_or_null(c, out_.before);
            break;
        default:
            break;
        }
    }

    void read_token(bson::view token) {
        out_.resume_token = token;
        if (const auto data = bson::find(token, "_data"); data && data->kind() == type::string)
            token_ = data->as_string();
    }

    void read_namespace(bson::view ns) {
        cursor c{ns};
        while (c.next()) {
            if (c.kind() != type::string)
                continue;
            if (c.name() == "db")
                out_.db = c.as_string();
            else if (c.name() == "coll")
                out_.collection = c.as_string();
        }
        if (c.malformed())
            wrong("ns");
    }

    void read_key(bson::view key) {
        cursor c{key};
        while (c.next()) {
            if (c.name() == "_id") {
                out_.id = c;
                return;
            }
        }
        if (c.malformed())
            wrong("documentKey");
    }

    void read_update(bson::view description) {
        event::change_event::update_description u;
        bool updated = false;
        bool removed = false;
        cursor c{description};
        while (c.next()) {
            if (c.name() == "updatedFields" && c.kind() == type::document) {
                u.updated_fields = c.as_document();
                updated = true;
            } else if (c.name() == "removedFields" && c.kind() == type::array) {
                u.removed_fields = c.as_document();
                removed = true;
            } else if (c.name() == "truncatedArrays" && c.kind() == type::array) {
                u.truncated_arrays = c.as_document();
            }
        }
        if (c.malformed() || !updated || !removed)
            wrong("updateDescription");
        else
            out_.update = u;
    }

    error::result<event::change_event> data_event() {
        if (!wrong_.empty())
            return fault(std::string{"has a field of an unexpected form: "}.append(wrong_));
        if (!has_time_)
            return fault("has no clusterTime");
        if (out_.db.empty() || out_.collection.empty())
            return fault("has no namespace");
        const bool is_update = out_.operation_type == "update";
        if (is_update && !out_.update)
            return fault("has no updateDescription");
        if (!is_update && out_.op != operation::remove && !out_.after)
            return fault("has no fullDocument");
        if (!is_update)
            out_.update.reset();
        if (out_.op == operation::remove)
            out_.after.reset();
        return out_;
    }

    void document_or_null(const cursor& c, std::optional<bson::view>& to) {
        if (c.kind() == type::null)
            to.reset();
        else if (is_document(c))
            to = c.as_document();
    }

    bool is_document(const cursor& c) { return is(c, type::document); }

    bool is(const cursor& c, type kind) {
        if (c.kind() == kind)
            return true;
        wrong(c.name());
        return false;
    }

    // Kept until the operation type is known: events of other types may have any shape.
    void wrong(std::string_view name) {
        if (wrong_.empty())
            wrong_ = name;
    }

    error::diagnostics fault(std::string_view what) const {
        std::string text = "change event";
        if (!out_.db.empty())
            text.append(" of ").append(out_.db).append(".").append(out_.collection);
        if (!token_.empty())
            text.append(" (resume token ").append(token_).append(")");
        return error::fail(error::errc::bad_data, text.append(" ").append(what));
    }

    event::change_event out_;
    std::string_view token_;
    std::string_view wrong_;
    bool has_time_ = false;
};

} // namespace

error::result<event::change_event> decode(bson::view change) {
    return reader{}.read(change);
}

} // namespace cdc::mongodb::streaming
