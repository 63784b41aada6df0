// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/pipeline.hpp"

#include "core/bson/builder.hpp"
#include "tests/support/standin/server_error.hpp"

#include <algorithm>
#include <set>

namespace cdc::test::standin {

namespace {

/// All stages of the 4.4 server.
const std::set<std::string_view>& known_stages() {
    static const std::set<std::string_view> names = {
        "$addFields", "$bucket",     "$bucketAuto",  "$changeStream", "$collStats",
        "$count",     "$currentOp",  "$facet",       "$geoNear",      "$graphLookup",
        "$group",     "$indexStats", "$limit",       "$listSessions", "$listLocalSessions",
        "$lookup",    "$match",      "$merge",       "$out",          "$planCacheStats",
        "$project",   "$redact",     "$replaceRoot", "$replaceWith",  "$sample",
        "$set",       "$skip",       "$sort",        "$sortByCount",  "$unionWith",
        "$unset",     "$unwind"};
    return names;
}

constexpr std::string_view split_stage = "$changeStreamSplitLargeEvent";

const std::set<std::string_view>& stages_of_change_streams() {
    static const std::set<std::string_view> names = {"$addFields", "$match",       "$project",
                                                     "$redact",    "$replaceRoot", "$replaceWith",
                                                     "$set",       "$unset"};
    return names;
}

bson::view document_of(const bson::cursor& c) {
    if (c.kind() != bson::type::document)
        throw server_error(15959, "the " + std::string(c.name()) +
                                      " stage specification must be an object");
    return c.as_document();
}

std::int64_t number_of(const bson::cursor& c) {
    const auto n = c.as_integer();
    if (!n || *n < 0)
        throw server_error(15957, "the " + std::string(c.name()).substr(1) +
                                      " stage needs a number that is not negative");
    return *n;
}

} // namespace

pipeline pipeline::compile(bson::view stages, std::size_t first, bool change_stream,
                           std::array<int, 3> version) {
    pipeline out;
    const bool can_split = version >= std::array{6, 0, 9};
    std::size_t i = 0;
    for (bson::cursor s{stages}; s.next(); ++i) {
        if (s.kind() != bson::type::document)
            throw server_error(code::type_mismatch,
                               "Each element of the 'pipeline' array must be an object");
        bson::cursor c{s.as_document()};
        if (!c.next())
            throw server_error(
                40323, "A pipeline stage specification object must contain exactly one field.");
        bson::cursor more = c;
        if (more.next())
            throw server_error(
                40323, "A pipeline stage specification object must contain exactly one field.");
        const std::string name(c.name());
        if (out.splits_)
            throw server_error(7182802, std::string(split_stage) +
                                            " must be the last stage in the pipeline");
        if (name == split_stage && can_split) {
            if (!document_of(c).empty())
                throw server_error(7182800,
                                   std::string(split_stage) + " spec should be an empty object");
            if (!change_stream)
                throw server_error(code::illegal_operation,
                                   name + " can only be used in a $changeStream pipeline");
            out.splits_ = true;
            continue;
        }
        if (!known_stages().contains(name))
            throw server_error(code::unrecognized_stage,
                               "Unrecognized pipeline stage name: '" + name + "'");
        if (i < first)
            continue;
        if (name == "$changeStream")
            throw server_error(40602,
                               "$changeStream is only valid as the first stage in a pipeline.");
        if (change_stream && !stages_of_change_streams().contains(name))
            throw server_error(code::illegal_operation,
                               name + " is not permitted in a $changeStream pipeline");

        stage made{};
        if (name == "$match") {
            made.what = kind::match;
            made.match = matcher::compile(document_of(c));
        } else if (name == "$project") {
            made.what = kind::project;
            if (document_of(c).empty())
                throw server_error(51272,
                                   "Invalid $project :: caused by :: projection specification "
                                   "must have at least one field");
            made.fields = standin::projection(document_of(c));
        } else if (name == "$addFields" || name == "$set") {
            made.what = kind::add_fields;
            made.added = added_fields(document_of(c));
        } else if (name == "$sort") {
            made.what = kind::sort;
            made.order = sort_order(document_of(c));
        } else if (name == "$skip") {
            made.what = kind::skip;
            made.number = number_of(c);
        } else if (name == "$limit") {
            made.what = kind::limit;
            made.number = number_of(c);
            if (made.number == 0)
                throw server_error(15958, "the limit must be positive");
        } else if (name == "$count" && c.kind() == bson::type::string) {
            made.what = kind::count;
            made.name = c.as_string();
        } else if (name == "$group") {
            made.what = kind::group;
            for (bson::cursor g{document_of(c)}; g.next();) {
                const bool constant =
                    g.kind() != bson::type::document && g.kind() != bson::type::string;
                const auto sum = g.kind() == bson::type::document
                                     ? bson::find(g.as_document(), "$sum")
                                     : std::nullopt;
                if (g.name() == "_id" && constant)
                    made.group_value.emplace(g);
                else if (sum && sum->as_integer() == 1 && made.name.empty())
                    made.name = g.name();
                else
                    throw server_error(code::bad_value, "this stand-in groups to count only");
            }
            if (!made.group_value)
                throw server_error(15955, "a group specification must include an _id");
        } else {
            throw server_error(code::bad_value, "this stand-in has no stage " + name);
        }
        out.stages_.push_back(std::move(made));
    }
    return out;
}

std::optional<bson::document> pipeline::pass(bson::view event) const {
    std::optional<bson::document> changed;
    for (const auto& s : stages_) {
        if (s.what == kind::add_fields)
            changed = s.added.apply(changed ? changed->view() : event);
        else if (s.what != kind::match)
            changed = s.fields.apply(changed ? changed->view() : event);
        else if (!s.match->matches(changed ? changed->view() : event))
            return std::nullopt;
    }
    return changed ? std::move(changed) : bson::document::copy_of(event);
}

bool pipeline::mentions(std::string_view field) const {
    return std::ranges::any_of(stages_, [&](const stage& s) {
        return s.what == kind::project || s.what == kind::add_fields ||
               (s.match && s.match->mentions(field));
    });
}

std::vector<bson::document> pipeline::run(std::vector<bson::document> docs) const {
    for (const auto& s : stages_) {
        switch (s.what) {
        case kind::match:
            std::erase_if(docs, [&](const auto& d) { return !s.match->matches(d); });
            break;
        case kind::project:
            for (auto& d : docs)
                d = s.fields.apply(d);
            break;
        case kind::add_fields:
            for (auto& d : docs)
                d = s.added.apply(d);
            break;
        case kind::sort:
            std::stable_sort(docs.begin(), docs.end(),
                             [&](const auto& a, const auto& b) { return s.order.before(a, b); });
            break;
        case kind::skip:
            docs.erase(docs.begin(),
                       docs.begin() + static_cast<std::ptrdiff_t>(std::min(
                                          docs.size(), static_cast<std::size_t>(s.number))));
            break;
        case kind::limit:
            if (docs.size() > static_cast<std::size_t>(s.number))
                docs.erase(docs.begin() + static_cast<std::ptrdiff_t>(s.number), docs.end());
            break;
        case kind::count:
        case kind::group: {
            bson::builder b;
            if (s.group_value)
                b.value("_id", s.group_value->cursor());
            if (!s.name.empty())
                b.int32(s.name, static_cast<std::int32_t>(docs.size()));
            const bool none = docs.empty();
            docs.clear();
            if (!none)
                docs.push_back(b.finish());
            break;
        }
        }
    }
    return docs;
}

} // namespace cdc::test::standin
