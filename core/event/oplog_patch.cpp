// SPDX-License-Identifier: Apache-2.0
#include "core/event/oplog_patch.hpp"

#include "core/bson/builder.hpp"

namespace cdc::event {

namespace {

error::diagnostics malformed(std::string_view part) {
    return error::fail(error::errc::bad_data,
                       std::string{"malformed BSON in updateDescription."}.append(part));
}

} // namespace

error::result<bson::document> oplog_patch(const change_event::update_description& update) {
    bson::builder patch;
    patch.int32("$v", 1);
    if (!update.updated_fields.empty())
        patch.document("$set", update.updated_fields);
    bson::builder unset;
    bson::cursor removed{update.removed_fields};
    while (removed.next()) {
        if (removed.kind() != bson::type::string)
            return malformed("removedFields");
        unset.boolean(removed.as_string(), true);
    }
    if (removed.malformed())
        return malformed("removedFields");
    if (unset.count() > 0)
        patch.document("$unset", unset.finish());
    if (!update.truncated_arrays)
        return patch.finish();
    bson::builder push;
    bson::cursor truncated{*update.truncated_arrays};
    while (truncated.next()) {
        if (truncated.kind() != bson::type::document)
            return malformed("truncatedArrays");
        const auto field = bson::find(truncated.as_document(), "field");
        const auto size = bson::find(truncated.as_document(), "newSize");
        if (!field || field->kind() != bson::type::string || !size)
            return malformed("truncatedArrays");
        bson::builder shortened;
        shortened.array("$each", bson::view{}).value("$slice", *size);
        push.document(field->as_string(), shortened.finish());
    }
    if (truncated.malformed())
        return malformed("truncatedArrays");
    if (push.count() > 0)
        patch.document("$push", push.finish());
    return patch.finish();
}

} // namespace cdc::event
