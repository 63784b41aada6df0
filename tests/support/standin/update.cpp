// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/update.hpp"

#include "core/bson/builder.hpp"
#include "tests/support/standin/arithmetic.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/field_path.hpp"
#include "tests/support/standin/modifier.hpp"
#include "tests/support/standin/server_error.hpp"

#include <algorithm>
#include <map>

namespace cdc::test::standin {

namespace {

using op = update::op;

bool component_before(const std::string& a, const std::string& b) {
    const auto x = array_index(a);
    const auto y = array_index(b);
    return x >= 0 && y >= 0 ? x < y : a < b;
}

bool path_before(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), component_before);
}

std::vector<std::string> checked_path(std::string_view text) {
    auto path = split_path(text);
    for (const auto& part : path) {
        if (part.empty())
            throw server_error(56, "The update path '" + std::string(text) +
                                       "' contains an empty field name, which is not allowed.");
        if (part.starts_with("$") && part != "$ref" && part != "$id" && part != "$db")
            throw server_error(
                code::bad_value,
                part == "$" || part.starts_with("$[")
                    ? "The positional operator did not find the match needed from the query."
                    : "The dollar ($) prefixed field '" + part + "' in '" + std::string(text) +
                          "' is not valid for storage.");
    }
    return path;
}

void check_operand(op what, const bson::cursor& c) {
    const std::string shown = "{" + std::string(c.name()) + ": " + describe(c) + "}";
    if (what == op::inc && !is_number(c.kind()))
        throw server_error(code::type_mismatch,
                           "Cannot increment with non-numeric argument: " + shown);
    if (what == op::mul && !is_number(c.kind()))
        throw server_error(code::type_mismatch,
                           "Cannot multiply with non-numeric argument: " + shown);
    if (what == op::pop && c.as_integer() != 1 && c.as_integer() != -1)
        throw server_error(code::failed_to_parse, "$pop expects 1 or -1, found: " + describe(c));
    if (what == op::rename && c.kind() != bson::type::string)
        throw server_error(code::bad_value, "The 'to' field for $rename must be a string: " +
                                                std::string(c.name()) + ": " + describe(c));
}

void check_conflicts(std::vector<const std::vector<std::string>*> paths) {
    std::sort(paths.begin(), paths.end(),
              [](const auto* a, const auto* b) { return path_before(*a, *b); });
    for (std::size_t i = 1; i < paths.size(); ++i) {
        const auto& a = *paths[i - 1];
        const auto& b = *paths[i];
        if (a.size() > b.size() || !std::equal(a.begin(), a.end(), b.begin()))
            continue;
        const auto join = [](const std::vector<std::string>& p) {
            std::string out;
            for (const auto& part : p)
                out += (out.empty() ? "" : ".") + part;
            return out;
        };
        throw server_error(code::conflicting_update_operators,
                           "Updating the path '" + join(b) + "' would create a conflict at '" +
                               join(a) + "'");
    }
}

} // namespace

update update::compile(const bson::cursor& u) {
    static const std::map<std::string_view, op> known = {
        {"$set", op::set},       {"$unset", op::unset},
        {"$inc", op::inc},       {"$mul", op::mul},
        {"$min", op::min},       {"$max", op::max},
        {"$rename", op::rename}, {"$setOnInsert", op::set_on_insert},
        {"$push", op::push},     {"$addToSet", op::add_to_set},
        {"$pull", op::pull},     {"$pop", op::pop}};
    if (u.kind() == bson::type::array)
        throw server_error(code::failed_to_parse, "this stand-in has no updates by pipeline");
    if (u.kind() != bson::type::document)
        throw server_error(code::failed_to_parse,
                           "Update argument must be either an object or an array");
    const bson::view doc = u.as_document();
    update out;
    bson::cursor first{doc};
    if (!first.next() || !first.name().starts_with("$")) {
        for (bson::cursor c{doc}; c.next();)
            if (c.name().starts_with("$"))
                throw server_error(code::dollar_prefixed_field_name,
                                   "The dollar ($) prefixed field '" + std::string(c.name()) +
                                       "' in '" + std::string(c.name()) +
                                       "' is not valid for storage.");
        out.replacement_ = bson::document::copy_of(doc);
        return out;
    }
    for (bson::cursor m{doc}; m.next();) {
        const std::string name(m.name());
        const auto at = known.find(name);
        if (at == known.end())
            throw server_error(code::failed_to_parse,
                               "Unknown modifier: " + name +
                                   ". Expected a valid update modifier or pipeline-style update "
                                   "specified as an array");
        if (m.kind() != bson::type::document)
            throw server_error(code::failed_to_parse,
                               "Modifiers operate on fields but we found type " +
                                   std::string(type_name(m.kind())) +
                                   " instead. For example: {$mod: {<field>: ...}} not {" + name +
                                   ": " + describe(m) + "}");
        if (m.as_document().empty())
            throw server_error(code::failed_to_parse,
                               "'" + name +
                                   "' is empty. You must specify a field like "
                                   "so: {" +
                                   name + ": {<field>: ...}}");
        for (bson::cursor c{m.as_document()}; c.next();) {
            check_operand(at->second, c);
            modification mod{
                at->second,  checked_path(c.name()), std::string(c.name()), value::of(c), {},
                std::nullopt};
            if (mod.what == op::rename)
                mod.target = checked_path(c.as_string());
            if (mod.what == op::pull)
                mod.condition = matcher::compile_for_value(c);
            if (mod.what == op::push)
                check_push(mod.operand);
            out.modifications_.push_back(std::move(mod));
        }
    }
    std::vector<const std::vector<std::string>*> paths;
    for (const auto& m : out.modifications_) {
        paths.push_back(&m.path);
        if (m.what == op::rename)
            paths.push_back(&m.target);
    }
    check_conflicts(std::move(paths));
    const auto order_of = [](const modification& m) -> const std::vector<std::string>& {
        return m.what == op::rename ? m.target : m.path;
    };
    std::stable_sort(
        out.modifications_.begin(), out.modifications_.end(),
        [&](const auto& a, const auto& b) { return path_before(order_of(a), order_of(b)); });
    return out;
}

void update::run(value& doc, bool inserting, outcome& out) const {
    std::optional<element> id;
    if (const value* v = doc.find("_id"))
        id.emplace(*v);
    modification_log log;
    for (const auto& m : modifications_)
        modify(doc, m, inserting, log);
    if (!inserting && id) {
        const value* now = doc.find("_id");
        if (now == nullptr || !now->identical(value::of(id->cursor())))
            throw server_error(code::immutable_field,
                               "Performing an update on the path '_id' would modify the immutable "
                               "field '_id'");
    }
    value updated = value::empty_document();
    for (auto& [path, v] : log.set)
        updated.children().emplace_back(path, std::move(v));
    out.updated_fields = updated.to_document();
    bson::builder removed;
    for (const auto& path : log.unset)
        removed.string(std::to_string(removed.count()), path);
    out.removed_fields = removed.finish();
    out.changed = !log.set.empty() || !log.unset.empty();
}

update::outcome update::apply(bson::view before) const {
    outcome out;
    if (!replacement_) {
        value doc = value::of_document(before);
        run(doc, false, out);
        out.after = doc.to_document();
        return out;
    }
    const auto old_id = bson::find(before, "_id");
    bson::builder b;
    if (old_id)
        b.value("_id", *old_id);
    for (bson::cursor c{*replacement_}; c.next();) {
        if (c.name() != "_id") {
            b.value(c.name(), c);
            continue;
        }
        if (!old_id) {
            b.value("_id", c);
        } else if (!value::of(c).identical(value::of(*old_id))) {
            throw server_error(
                code::immutable_field,
                "After applying the update, the (immutable) field '_id' was found to "
                "have been altered to _id: " +
                    describe(c));
        }
    }
    out.after = b.finish();
    out.changed = !std::ranges::equal(out.after.view().bytes(), before.bytes());
    return out;
}

bson::document update::apply_to_nothing(const matcher& query) const {
    if (replacement_) {
        const auto id = query.equality("_id");
        if (!id || bson::find(*replacement_, "_id"))
            return replacement_->clone();
        bson::builder b;
        return b.value("_id", *id).append_all(*replacement_).finish();
    }
    value doc = value::empty_document();
    if (const auto id = query.equality("_id"))
        doc.set("_id", value::of(*id));
    query.for_each_equality([&](std::string_view path, const bson::cursor& v) {
        if (path != "_id")
            create_path(doc, split_path(path)) = value::of(v);
    });
    outcome ignored;
    run(doc, true, ignored);
    return doc.to_document();
}

} // namespace cdc::test::standin
