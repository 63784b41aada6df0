// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/change_event.hpp"

#include "core/bson/builder.hpp"
#include "tests/support/standin/resume_token.hpp"

namespace cdc::test::standin {

namespace {

using kind = oplog_entry::kind;

const char* operation_type(kind what) {
    switch (what) {
    case kind::insert:
        return "insert";
    case kind::update:
        return "update";
    case kind::replace:
        return "replace";
    case kind::remove:
        return "delete";
    case kind::drop:
        return "drop";
    case kind::rename:
        return "rename";
    case kind::drop_database:
        return "dropDatabase";
    default:
        return "";
    }
}

void begin_event(bson::builder& b, const oplog_entry& e, const char* type, bool invalidate,
                 bool modern) {
    const bson::document token = resume_token::of_event(e, invalidate).to_document();
    b.document("_id", token).string("operationType", type).timestamp("clusterTime", e.ts);
    if (modern)
        b.date_ms("wallTime", e.wall_ms);
}

bson::document ns(const std::string& db, const std::string& coll) {
    bson::builder b;
    b.string("db", db);
    if (!coll.empty())
        b.string("coll", coll);
    return b.finish();
}

} // namespace

bool has_event(const oplog_entry& e) noexcept {
    return e.what != kind::noop && e.what != kind::create && e.what != kind::command;
}

bson::document make_event(const oplog_entry& e, bool modern,
                          std::optional<const bson::document*> looked_up) {
    bson::builder b;
    if (e.what == kind::other) {
        // The order of its fields is as good as any: no recording shows such an event.
        b.document("_id", resume_token::of_event(e).to_document()).append_all(e.change);
        b.timestamp("clusterTime", e.ts);
        if (modern)
            b.date_ms("wallTime", e.wall_ms);
        return b.finish();
    }
    if (e.what == kind::rename && !modern)
        b.document("to", ns(e.to_db, e.to_coll));
    begin_event(b, e, operation_type(e.what), false, modern);
    if (e.what == kind::insert || e.what == kind::replace) {
        b.document("fullDocument", e.object);
    } else if (e.what == kind::update && looked_up) {
        if (*looked_up != nullptr)
            b.document("fullDocument", **looked_up);
        else
            b.null("fullDocument");
    }
    b.document("ns", ns(e.db, e.coll));
    if (e.what == kind::rename && modern)
        b.document("to", ns(e.to_db, e.to_coll));
    if (!e.key.view().empty())
        b.document("documentKey", e.key);
    if (e.what == kind::update) {
        bson::builder d;
        d.document("updatedFields", e.updated).array("removedFields", e.removed);
        if (modern)
            d.array("truncatedArrays", bson::view());
        b.document("updateDescription", d.finish());
    }
    return b.finish();
}

bson::document pad(bson::view event, std::size_t bytes) {
    bson::builder b;
    for (bson::cursor c{event}; c.next();) {
        if (c.name() != "fullDocument") {
            b.value(c.name(), c);
            continue;
        }
        bson::builder doc;
        doc.append_all(c.as_document()).string("pad", std::string(bytes, 'p'));
        b.document("fullDocument", doc.finish());
    }
    return b.finish();
}

bson::document make_invalidate(const oplog_entry& e, bool modern) {
    bson::builder b;
    begin_event(b, e, "invalidate", true, modern);
    return b.finish();
}

} // namespace cdc::test::standin
