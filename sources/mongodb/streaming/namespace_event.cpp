// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/namespace_event.hpp"

#include "sources/mongodb/cursor/namespace_condition.hpp"

#include <fmt/format.h>

namespace cdc::mongodb::streaming {

namespace {

error::diagnostics without(const event::change_event& e, std::string_view what) {
    return error::fail(error::errc::bad_data,
                       fmt::format("change event {} of {} has no {}", e.operation_type,
                                   e.db.empty() ? std::string_view("an unknown database") : e.db,
                                   what));
}

std::optional<event::control_record::name> name_in(bson::view change, std::string_view field) {
    const auto found = bson::find(change, field);
    if (!found || found->kind() != bson::type::document)
        return std::nullopt;
    const auto db = bson::find(found->as_document(), "db");
    const auto collection = bson::find(found->as_document(), "coll");
    if (!db || db->kind() != bson::type::string || !collection ||
        collection->kind() != bson::type::string)
        return std::nullopt;
    return event::control_record::name{std::string(db->as_string()),
                                       std::string(collection->as_string())};
}

/// Whether the condition can hold for collections of `db`, and whether it does for all of them.
error::result<bool> holds_for(const cursor::namespace_condition& c, std::string_view db) {
    if (!c.db)
        return true;
    // A pattern matches the whole text; the condition has its own anchors.
    const auto regex = pattern::compile(fmt::format("[\\s\\S]*(?:{})[\\s\\S]*", *c.db));
    if (!regex)
        return regex.error();
    return regex->matches(db);
}

bool all_collections(const cursor::namespace_condition& c) {
    return !c.collection || *c.collection == "^(?:.*)$" || *c.collection == "^(?:.+)$";
}

error::result<bool> can_hold_captured(std::string_view db, filters& f) {
    const auto wanted = f.wants_database(db);
    if (!wanted || !*wanted)
        return wanted;
    for (const auto& item : f.collection_exclude())
        for (const auto& c : cursor::conditions_of(item)) {
            if (!c.implies_item || !all_collections(c))
                continue;
            const auto all = holds_for(c, db);
            if (!all)
                return all;
            if (*all)
                return false;
        }
    if (f.collection_include().empty())
        return true;
    for (const auto& item : f.collection_include())
        for (const auto& c : cursor::conditions_of(item)) {
            const auto some = holds_for(c, db);
            if (!some || *some)
                return some;
        }
    return false;
}

} // namespace

bool is_namespace_event(std::string_view operation_type) noexcept {
    return operation_type == "drop" || operation_type == "rename" ||
           operation_type == "dropDatabase";
}

error::result<std::optional<event::control_record>> control_of(const event::change_event& e,
                                                               bson::view change, filters& f) {
    if (e.db.empty())
        return without(e, "namespace");
    event::control_record out;
    out.topic_suffix = e.db;
    out.key = e.collection;
    out.type = e.operation_type;
    if (e.operation_type == "dropDatabase") {
        out.ns = {std::string(e.db), std::nullopt};
        const auto wanted = can_hold_captured(e.db, f);
        if (!wanted)
            return wanted.error();
        return *wanted ? std::optional(std::move(out)) : std::nullopt;
    }
    if (e.collection.empty())
        return without(e, "collection");
    out.ns = {std::string(e.db), std::string(e.collection)};
    auto wanted = f.wants(e.db, e.collection);
    if (!wanted)
        return wanted.error();
    if (e.operation_type == "rename") {
        out.to = name_in(change, "to");
        if (!out.to)
            return without(e, "new name");
        if (!*wanted)
            wanted = f.wants(out.to->db, *out.to->collection);
        if (!wanted)
            return wanted.error();
    }
    return *wanted ? std::optional(std::move(out)) : std::nullopt;
}

} // namespace cdc::mongodb::streaming
