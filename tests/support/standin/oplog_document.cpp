// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/oplog_document.hpp"

#include "core/bson/builder.hpp"

namespace cdc::test::standin {

namespace {

using kind = oplog_entry::kind;

bson::document modifications(const oplog_entry& e) {
    bson::builder b;
    b.int32("$v", 1);
    if (!e.updated.view().empty())
        b.document("$set", e.updated);
    if (!e.removed.view().empty()) {
        bson::builder unset;
        for (bson::cursor c{e.removed}; c.next();)
            unset.boolean(c.as_string(), true);
        b.document("$unset", unset.finish());
    }
    return b.finish();
}

bson::document command(const oplog_entry& e) {
    bson::builder b;
    switch (e.what) {
    case kind::create: {
        bson::builder key;
        key.int32("_id", 1);
        bson::builder index;
        index.int32("v", 2).document("key", key.finish()).string("name", "_id_");
        b.string("create", e.coll).append_all(e.object);
        return b.document("idIndex", index.finish()).finish();
    }
    case kind::drop:
        return b.string("drop", e.coll).finish();
    case kind::rename:
        b.string("renameCollection", e.db + "." + e.coll).string("to", e.to_db + "." + e.to_coll);
        b.boolean("stayTemp", false);
        if (e.dropped_target != uuid{})
            b.binary("dropTarget", 4, e.dropped_target);
        return b.finish();
    case kind::command:
    case kind::other:
        return e.object.clone();
    default:
        return b.int32("dropDatabase", 1).finish();
    }
}

} // namespace

bson::document oplog_document(const oplog_entry& e) {
    bson::builder b;
    const auto head = [&](const char* op, const std::string& ns) {
        b.string("op", op).string("ns", ns);
        if (e.collection_id != uuid{})
            b.binary("ui", 4, e.collection_id);
    };
    const std::string ns = e.db + "." + e.coll;
    switch (e.what) {
    case kind::noop:
        head("n", "");
        b.document("o", e.object);
        break;
    case kind::insert:
        head("i", ns);
        b.document("o", e.object);
        break;
    case kind::update:
        head("u", ns);
        b.document("o", modifications(e)).document("o2", e.key);
        break;
    case kind::replace:
        head("u", ns);
        b.document("o", e.object).document("o2", e.key);
        break;
    case kind::remove:
        head("d", ns);
        b.document("o", e.key);
        break;
    default:
        head("c", e.db + ".$cmd");
        b.document("o", command(e));
        if (e.records)
            b.document("o2", bson::builder{}.int32("numRecords", *e.records).finish());
        break;
    }
    b.timestamp("ts", e.ts);
    if (e.what != kind::noop || bson::find(e.object, "msg")->as_string() != "initiating set")
        b.int64("t", e.term);
    return b.date_ms("wall", e.wall_ms).int64("v", 2).finish();
}

} // namespace cdc::test::standin
