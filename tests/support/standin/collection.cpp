// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/collection.hpp"

#include "core/bson/builder.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/key_string.hpp"
#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

std::string index_key(const bson::cursor& id) {
    key_string key;
    key.append(id);
    return key.bytes();
}

std::string index_key_of(bson::view doc) {
    return index_key(*bson::find(doc, "_id"));
}

} // namespace

void collection::rename(std::string db, std::string name) {
    db_ = std::move(db);
    name_ = std::move(name);
}

record_id collection::insert(bson::document doc) {
    const auto [at, fresh] = by_id_.try_emplace(index_key_of(doc), next_);
    if (!fresh) {
        const auto id = *bson::find(doc, "_id");
        server_error e(code::duplicate_key, "E11000 duplicate key error collection: " + ns() +
                                                " index: _id_ dup key: { _id: " + describe(id) +
                                                " }");
        bson::builder pattern;
        pattern.int32("_id", 1);
        bson::builder key;
        key.value("_id", id);
        bson::builder extra;
        extra.document("keyPattern", pattern.finish()).document("keyValue", key.finish());
        e.extra = std::make_shared<const bson::document>(extra.finish());
        throw e;
    }
    bytes_ += doc.size();
    records_.emplace(next_, std::move(doc));
    return next_++;
}

void collection::replace(record_id record, bson::document doc) {
    auto& old = records_.at(record);
    bytes_ += doc.size();
    bytes_ -= old.size();
    old = std::move(doc);
}

void collection::erase(record_id record) {
    const auto at = records_.find(record);
    by_id_.erase(index_key_of(at->second));
    bytes_ -= at->second.size();
    records_.erase(at);
}

const bson::document* collection::find_by_id(const bson::cursor& id) const {
    const auto at = by_id_.find(index_key(id));
    return at == by_id_.end() ? nullptr : &records_.at(at->second);
}

std::vector<record_id> collection::find(const matcher& m, std::size_t limit) const {
    std::vector<record_id> out;
    if (const auto id = m.equality("_id"); id && id->kind() != bson::type::array) {
        const auto at = by_id_.find(index_key(*id));
        if (at != by_id_.end() && limit > 0 && m.matches(records_.at(at->second)))
            out.push_back(at->second);
        return out;
    }
    for (const auto& [record, doc] : records_) {
        if (out.size() >= limit)
            break;
        if (m.matches(doc))
            out.push_back(record);
    }
    return out;
}

} // namespace cdc::test::standin
