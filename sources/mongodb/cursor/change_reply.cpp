// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/change_reply.hpp"

namespace cdc::mongodb::cursor {

namespace {

error::diagnostics broken(std::string_view what) {
    return error::fail(error::errc::protocol, "the server's cursor reply has " + std::string(what));
}

} // namespace

error::result<change_reply> change_reply::parse(bson::document reply) {
    change_reply out;
    out.document = std::move(reply);
    if (const auto time = bson::find(out.document, "operationTime");
        time && time->kind() == bson::type::timestamp)
        out.operation_time = time->as_timestamp();
    const auto cursor = bson::find(out.document, "cursor");
    if (!cursor || cursor->kind() != bson::type::document)
        return broken("no cursor");
    bool has_batch = false;
    bool has_id = false;
    bson::cursor field(cursor->as_document());
    while (field.next()) {
        if (field.name() == "firstBatch" || field.name() == "nextBatch") {
            if (field.kind() != bson::type::array)
                return broken("a batch that is not an array");
            out.batch = field.as_document();
            has_batch = true;
        } else if (field.name() == "id") {
            const auto id = field.as_integer();
            if (!id)
                return broken("a cursor id that is not a number");
            out.cursor_id = *id;
            has_id = true;
        } else if (field.name() == "ns") {
            if (field.kind() != bson::type::string)
                return broken("a namespace that is not a string");
            out.ns = field.as_string();
        } else if (field.name() == "postBatchResumeToken") {
            if (field.kind() != bson::type::document)
                return broken("a resume token that is not a document");
            out.post_batch_token = field.as_document();
        }
    }
    if (field.malformed())
        return broken("a malformed cursor");
    if (!has_batch || !has_id)
        return broken(has_id ? "no batch" : "no cursor id");
    bson::cursor element(out.batch);
    while (element.next()) {
        if (element.kind() != bson::type::document)
            return broken("a batch with something that is not a document");
        out.last_ = element.as_document();
    }
    if (element.malformed())
        return broken("a malformed batch");
    return out;
}

} // namespace cdc::mongodb::cursor
