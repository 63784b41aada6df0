// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/storage.hpp"

#include "core/bson/builder.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/server_error.hpp"

#include <bson/bson.h>

namespace cdc::test::standin {

namespace {

constexpr std::size_t largest_document = 16'777'216;

bson::document key_of(bson::view doc) {
    bson::builder b;
    return b.value("_id", *bson::find(doc, "_id")).finish();
}

oplog_entry entry_for(const collection& c, oplog_entry::kind what) {
    oplog_entry e;
    e.what = what;
    e.db = c.db();
    e.coll = c.name();
    e.collection_id = c.id();
    return e;
}

oplog_entry drop_of(const collection& c) {
    auto e = entry_for(c, oplog_entry::kind::drop);
    e.records = static_cast<std::int32_t>(c.size());
    return e;
}

} // namespace

bson::document with_id_first(bson::view doc) {
    for (bson::cursor c{doc}; c.next();)
        if (c.name().starts_with("$"))
            throw server_error(code::dollar_prefixed_field_name,
                               "The dollar ($) prefixed field '" + std::string(c.name()) +
                                   "' in '" + std::string(c.name()) +
                                   "' is not valid for storage.");
    const auto id = bson::find(doc, "_id");
    bson::document out;
    if (!id) {
        bson_oid_t fresh;
        bson_oid_init(&fresh, nullptr);
        bson::builder b;
        b.oid("_id", std::span<const std::uint8_t, 12>(fresh.bytes, 12)).append_all(doc);
        out = b.finish();
    } else {
        if (id->kind() == bson::type::regex || id->kind() == bson::type::array ||
            id->kind() == bson::type::undefined)
            throw server_error(code::bad_value, std::string("can't use a") +
                                                    (id->kind() == bson::type::array ? "n " : " ") +
                                                    std::string(type_name(id->kind())) +
                                                    " for _id");
        bson::cursor first{doc};
        first.next();
        if (first.name() == "_id") {
            out = bson::document::copy_of(doc);
        } else {
            bson::builder b;
            b.value("_id", *id);
            for (bson::cursor c{doc}; c.next();)
                if (c.name() != "_id")
                    b.value(c.name(), c);
            out = b.finish();
        }
    }
    if (out.size() > largest_document)
        throw server_error(code::object_too_large, "object to insert too large. size in bytes: " +
                                                       std::to_string(out.size()) + ", max size: " +
                                                       std::to_string(largest_document));
    return out;
}

const collection* storage::find(const std::string& db, const std::string& name) const noexcept {
    const auto at = databases_.find(db);
    if (at == databases_.end())
        return nullptr;
    const auto c = at->second.find(name);
    return c == at->second.end() ? nullptr : c->second.get();
}

collection* storage::find(const std::string& db, const std::string& name) noexcept {
    return const_cast<collection*>(std::as_const(*this).find(db, name));
}

collection& storage::require(const std::string& db, const std::string& name, bson::view options) {
    if (collection* c = find(db, name))
        return *c;
    if (name.empty() || name.find('$') != std::string::npos || name.starts_with(".") || db.empty())
        throw server_error(code::invalid_namespace, "Invalid collection name: " + db + "." + name);
    auto fresh = std::make_unique<collection>(db, name);
    collection& out = *fresh;
    databases_[db][name] = std::move(fresh);
    auto made = entry_for(out, oplog_entry::kind::create);
    made.object = bson::document::copy_of(options);
    oplog_.append(std::move(made));
    return out;
}

void storage::build_index(const collection& c, bson::view index) {
    const uuid build = random_uuid();
    for (const char* step : {"startIndexBuild", "commitIndexBuild"}) {
        auto e = entry_for(c, oplog_entry::kind::command);
        bson::builder b;
        b.string(step, c.name()).binary("indexBuildUUID", 4, build);
        b.array("indexes", bson::builder{}.document("0", index).finish());
        e.object = b.finish();
        oplog_.append(std::move(e));
    }
}

void storage::append_change(const std::string& db, const std::string& coll, bson::view change) {
    oplog_entry e;
    e.what = oplog_entry::kind::other;
    e.db = db;
    e.coll = coll;
    if (const collection* c = find(db, coll))
        e.collection_id = c->id();
    e.change = bson::document::copy_of(change);
    oplog_.append(std::move(e));
}

void storage::insert(collection& c, bson::view doc) {
    bson::document stored = with_id_first(doc);
    oplog_entry e = entry_for(c, oplog_entry::kind::insert);
    e.key = key_of(stored);
    e.object = stored.clone();
    c.insert(std::move(stored));
    oplog_.append(std::move(e));
}

bool storage::apply(collection& c, record_id record, const update& u) {
    auto outcome = u.apply(c.get(record));
    if (!outcome.changed)
        return false;
    if (outcome.after.size() > largest_document)
        throw server_error(17419, "Resulting document after update is larger than " +
                                      std::to_string(largest_document));
    oplog_entry e =
        entry_for(c, u.is_replacement() ? oplog_entry::kind::replace : oplog_entry::kind::update);
    e.key = key_of(outcome.after);
    if (u.is_replacement()) {
        e.object = outcome.after.clone();
    } else {
        e.updated = std::move(outcome.updated_fields);
        e.removed = std::move(outcome.removed_fields);
    }
    c.replace(record, std::move(outcome.after));
    oplog_.append(std::move(e));
    return true;
}

void storage::remove(collection& c, record_id record) {
    oplog_entry e = entry_for(c, oplog_entry::kind::remove);
    e.key = key_of(c.get(record));
    c.erase(record);
    oplog_.append(std::move(e));
}

void storage::drop(collection& c) {
    oplog_.append(drop_of(c));
    const std::string db = c.db();
    const std::string name = c.name();
    auto& in = databases_.at(db);
    in.erase(name);
    if (in.empty())
        databases_.erase(db);
}

void storage::rename(collection& c, const std::string& to_db, const std::string& to_name,
                     bool drop_target) {
    const collection* target = find(to_db, to_name);
    if (target != nullptr && !drop_target)
        throw server_error(code::namespace_exists, "target namespace exists");
    oplog_entry e = entry_for(c, oplog_entry::kind::rename);
    e.to_db = to_db;
    e.to_coll = to_name;
    if (target != nullptr) {
        e.dropped_target = target->id();
        e.records = static_cast<std::int32_t>(target->size());
    }
    auto& from = databases_.at(c.db());
    auto moved = std::move(from.at(c.name()));
    from.erase(c.name());
    if (from.empty())
        databases_.erase(e.db);
    moved->rename(to_db, to_name);
    databases_[to_db][to_name] = std::move(moved);
    oplog_.append(std::move(e));
}

void storage::drop_database(const std::string& name) {
    const auto at = databases_.find(name);
    if (at == databases_.end())
        return;
    for (const auto& [coll, c] : at->second)
        oplog_.append(drop_of(*c));
    databases_.erase(at);
    oplog_entry e;
    e.what = oplog_entry::kind::drop_database;
    e.db = name;
    oplog_.append(std::move(e));
}

} // namespace cdc::test::standin
