// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/change_pipeline.hpp"

#include "core/bson/builder.hpp"
#include "sources/mongodb/cursor/namespace_condition.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace cdc::mongodb::cursor {

namespace {

constexpr const char* ignore_case = "i";

/// Documents to an array.
class array_builder {
  public:
    array_builder& add(bson::view doc) {
        b_.document(std::to_string(b_.count()), doc);
        return *this;
    }
    array_builder& add_regex(const std::string& regex) {
        b_.regex(std::to_string(b_.count()), regex, ignore_case);
        return *this;
    }
    array_builder& add_string(std::string_view text) {
        b_.string(std::to_string(b_.count()), text);
        return *this;
    }
    bool empty() const { return b_.count() == 0; }
    bson::document finish() { return b_.finish(); }

  private:
    bson::builder b_;
};

bson::document with_array(std::string_view name, array_builder& items) {
    const auto array = items.finish();
    bson::builder b;
    b.array(name, array);
    return b.finish();
}

/// `field` matches one of the regexes.
void append_any(bson::builder& b, std::string_view field, const std::vector<std::string>& regexes) {
    if (regexes.size() == 1) {
        b.regex(field, regexes.front(), ignore_case);
        return;
    }
    array_builder list;
    for (const auto& r : regexes)
        list.add_regex(r);
    const auto in = with_array("$in", list);
    b.document(field, in);
}

/// An anchor at the end also matches in front of a last line break. Where a match keeps an event
/// back that would lose one.
std::string strictly(std::string regex) {
    if (regex.ends_with('$'))
        regex += "(?!\\n)";
    return regex;
}

/// The alternatives of a list over `db.coll`, those of one database together.
array_builder namespace_alternatives(const std::vector<namespace_condition>& conditions,
                                     bool excluding) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<std::string>> collections_of;
    array_builder out;
    for (const auto& c : conditions) {
        if (c.db && c.collection) {
            const auto db = excluding ? strictly(*c.db) : *c.db;
            auto& list = collections_of[db];
            if (list.empty())
                order.push_back(db);
            list.push_back(excluding ? strictly(*c.collection) : *c.collection);
            continue;
        }
        bson::builder b;
        if (c.db)
            b.regex("ns.db", *c.db, ignore_case);
        else
            b.regex("ns.coll", *c.collection, ignore_case);
        const auto doc = b.finish();
        out.add(doc);
    }
    for (const auto& db : order) {
        bson::builder b;
        b.regex("ns.db", db, ignore_case);
        append_any(b, "ns.coll", collections_of[db]);
        const auto doc = b.finish();
        out.add(doc);
    }
    return out;
}

void add_database_include(array_builder& all, const std::vector<pattern>& items) {
    std::vector<std::string> regexes;
    for (const auto& item : items) {
        auto r = database_regex(item);
        if (!r)
            return; // the others alone would keep back what this one wants
        regexes.push_back(std::move(*r));
    }
    if (regexes.empty())
        return;
    bson::builder b;
    append_any(b, "ns.db", regexes);
    const auto doc = b.finish();
    all.add(doc);
}

void add_database_exclude(array_builder& all, const std::vector<pattern>& items) {
    std::vector<std::string> regexes;
    for (const auto& item : items)
        if (auto r = database_regex(item))
            regexes.push_back(strictly(std::move(*r)));
    if (regexes.empty())
        return;
    bson::builder b;
    append_any(b, "ns.db", regexes);
    const auto match = b.finish();
    array_builder none;
    none.add(match);
    const auto doc = with_array("$nor", none);
    all.add(doc);
}

void add_collection_include(array_builder& all, const std::vector<pattern>& items) {
    if (items.empty())
        return;
    std::vector<namespace_condition> conditions;
    for (const auto& item : items)
        for (auto& c : conditions_of(item)) {
            if (c.everything())
                return;
            conditions.push_back(std::move(c));
        }
    auto any = namespace_alternatives(conditions, false);
    const auto doc = with_array("$or", any);
    all.add(doc);
}

void add_collection_exclude(array_builder& all, const std::vector<pattern>& items) {
    std::vector<namespace_condition> conditions;
    for (const auto& item : items)
        for (auto& c : conditions_of(item))
            if (c.implies_item)
                conditions.push_back(std::move(c));
    if (conditions.empty())
        return;
    auto any = namespace_alternatives(conditions, true);
    const auto doc = with_array("$nor", any);
    all.add(doc);
}

void add_stage(array_builder& stages, std::string_view name, bson::view spec) {
    bson::builder b;
    b.document(name, spec);
    const auto stage = b.finish();
    stages.add(stage);
}

database_command aggregate(const stream_target& target, array_builder stages) {
    const auto pipeline = stages.finish();
    bson::builder cursor_options;
    cursor_options.int32("batchSize", 0);
    const auto cursor = cursor_options.finish();

    bson::builder b;
    if (target.scope == capture_scope::collection)
        b.string("aggregate", target.collection);
    else
        b.int32("aggregate", 1);
    b.array("pipeline", pipeline).document("cursor", cursor);
    return {target.scope == capture_scope::deployment ? "admin" : target.db, b.finish()};
}

/// The first stages: the stream and what is wanted of it.
array_builder opening(const stream_target& target, const open_at& at, const filters& f,
                      bool update_lookup) {
    bson::builder stage;
    if (update_lookup)
        stage.string("fullDocument", "updateLookup");
    if (target.scope == capture_scope::deployment)
        stage.boolean("allChangesForCluster", true);
    if (const auto* position = std::get_if<event::position>(&at))
        stage.document(position->is_from_invalidate() ? "startAfter" : "resumeAfter",
                       position->token());
    else if (const auto* time = std::get_if<bson::timestamp>(&at))
        stage.timestamp("startAtOperationTime", *time);
    array_builder stages;
    add_stage(stages, "$changeStream", stage.finish());
    add_stage(stages, "$match", change_match(f, target.namespace_events));
    return stages;
}

bson::document one_operand(std::string_view name, std::string_view operand) {
    bson::builder b;
    b.string(name, operand);
    return b.finish();
}

/// Two stages, because the second looks at what the first has made.
void add_size_stages(array_builder& stages, std::size_t threshold) {
    array_builder sizes;
    sizes.add(one_operand("$bsonSize", "$fullDocument"));
    sizes.add(one_operand("$bsonSize", "$fullDocumentBeforeChange"));
    bson::builder size;
    size.document(size_field, with_array("$max", sizes));
    add_stage(stages, "$addFields", size.finish());

    bson::builder limits; // null is below every number
    limits.string("0", "$" + std::string(size_field))
        .int64("1", static_cast<std::int64_t>(threshold));
    bson::builder too_large;
    too_large.array("$gt", limits.finish());
    const auto condition = too_large.finish();
    bson::builder fields;
    for (const std::string name :
         {"fullDocument", "fullDocumentBeforeChange", "updateDescription"}) {
        bson::builder choice;
        choice.document("0", condition).string("1", "$$REMOVE").string("2", "$" + name);
        bson::builder b;
        b.array("$cond", choice.finish());
        fields.document(name, b.finish());
    }
    add_stage(stages, "$addFields", fields.finish());
}

} // namespace

std::string stream_target::describe() const {
    switch (scope) {
    case capture_scope::deployment:
        return "the deployment";
    case capture_scope::database:
        return fmt::format("database {}", db);
    case capture_scope::collection:
        return fmt::format("collection {}.{}", db, collection);
    }
    return "?";
}

bson::document change_match(const filters& f, bool namespace_events) {
    array_builder all;
    array_builder types;
    for (const auto* type : {"insert", "update", "replace", "delete"})
        types.add_string(type);
    const auto in = with_array("$in", types);
    bson::builder data;
    data.document("operationType", in);
    const auto data_types = data.finish();
    all.add(data_types);
    add_database_include(all, f.database_include());
    add_collection_include(all, f.collection_include());
    add_database_exclude(all, f.database_exclude());
    add_collection_exclude(all, f.collection_exclude());
    const auto wanted = with_array("$and", all);

    bson::builder end;
    if (namespace_events) {
        array_builder always;
        for (const auto* type : {"invalidate", "drop", "rename", "dropDatabase"})
            always.add_string(type);
        const auto any = with_array("$in", always);
        end.document("operationType", any);
    } else {
        end.string("operationType", "invalidate");
    }
    const auto invalidate = end.finish();
    array_builder either;
    either.add(invalidate).add(wanted);
    return with_array("$or", either);
}

database_command open_change_stream(const stream_target& target, const open_at& at,
                                    const filters& f, bool split) {
    auto stages = opening(target, at, f, target.update_lookup);
    if (target.skip_threshold > 0)
        add_size_stages(stages, target.skip_threshold);
    if (split)
        add_stage(stages, "$changeStreamSplitLargeEvent", {});
    return aggregate(target, std::move(stages));
}

database_command open_outline_stream(const stream_target& target, const open_at& at,
                                     const filters& f) {
    auto stages = opening(target, at, f, false);
    bson::builder fields;
    for (const auto* name : {"operationType", "ns", "clusterTime"})
        fields.int32(name, 1);
    add_stage(stages, "$project", fields.finish());
    return aggregate(target, std::move(stages));
}

database_command open_probe_stream(const stream_target& target, bson::timestamp at) {
    bson::builder stage;
    if (target.scope == capture_scope::deployment)
        stage.boolean("allChangesForCluster", true);
    stage.timestamp("startAtOperationTime", at);
    array_builder stages;
    add_stage(stages, "$changeStream", stage.finish());
    return aggregate(target, std::move(stages));
}

} // namespace cdc::mongodb::cursor
