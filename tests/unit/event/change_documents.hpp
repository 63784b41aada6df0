// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/builder.hpp"
#include "core/bson/document.hpp"

#include <string_view>

namespace cdc::test {

inline constexpr std::string_view event_token =
    "826B0D17C8000000052B022C0100296E5A1004D03D9FFEC9D9454CA5BE428D952A34F546";

/// A change document as a server sends it, for the tests to put their own fields in.
class change_document {
  public:
    explicit change_document(std::string_view operation_type) {
        builder_.document("_id", bson::builder{}.string("_data", event_token).finish())
            .string("operationType", operation_type)
            .timestamp("clusterTime", {1796020168, 5});
    }
    change_document& ns(std::string_view db = "inventory", std::string_view coll = "customers") {
        builder_.document("ns", bson::builder{}.string("db", db).string("coll", coll).finish());
        return *this;
    }
    change_document& key(std::int32_t id = 1) {
        builder_.document("documentKey", bson::builder{}.int32("_id", id).finish());
        return *this;
    }
    change_document& full(bson::view document) {
        builder_.document("fullDocument", document);
        return *this;
    }
    change_document& full() { return full(bson::builder{}.int32("_id", 1).finish()); }
    change_document& update(bson::view updated, bson::view removed) {
        builder_.document("updateDescription", bson::builder{}
                                                   .document("updatedFields", updated)
                                                   .array("removedFields", removed)
                                                   .finish());
        return *this;
    }
    bson::builder& more() { return builder_; }
    bson::document finish() { return builder_.finish(); }

  private:
    bson::builder builder_;
};

} // namespace cdc::test
