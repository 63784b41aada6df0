// SPDX-License-Identifier: Apache-2.0
// From a filter document to a tree of conditions.
#include "tests/support/standin/field_path.hpp"
#include "tests/support/standin/matcher_node.hpp"
#include "tests/support/standin/server_error.hpp"

#include <map>

namespace cdc::test::standin {

namespace {

using node = matcher::node;
using op = match_op;

std::unique_ptr<node> compile_document(bson::view filter);

node leaf(op what, std::string_view path) {
    node out(what);
    out.path_text = path;
    out.path = split_path(path);
    return out;
}

node negated(node inner) {
    node out(op::none_of);
    out.children.push_back(std::move(inner));
    return out;
}

node equals(std::string_view path, const bson::cursor& v) {
    if (v.kind() == bson::type::regex) {
        node out = leaf(op::in, path); // a regex also equals itself
        out.operands.emplace_back(v);
        out.patterns.emplace_back(v.as_regex().pattern, v.as_regex().options);
        return out;
    }
    node out = leaf(op::eq, path);
    out.operands.emplace_back(v);
    return out;
}

node membership(std::string_view path, const bson::cursor& list, std::string_view name) {
    if (list.kind() != bson::type::array)
        throw server_error(code::bad_value, std::string(name) + " needs an array");
    node out = leaf(op::in, path);
    for (bson::cursor c{list.as_document()}; c.next();) {
        if (c.kind() == bson::type::regex)
            out.patterns.emplace_back(c.as_regex().pattern, c.as_regex().options);
        if (c.kind() == bson::type::document && c.as_document().size() > 5) {
            bson::cursor first{c.as_document()};
            if (first.next() && first.name().starts_with("$") && first.name() != "$ref" &&
                first.name() != "$id" && first.name() != "$db")
                throw server_error(code::bad_value, "cannot nest $ under $in");
        }
        out.operands.emplace_back(c);
    }
    return out;
}

bool is_operator_document(const bson::cursor& v) {
    if (v.kind() != bson::type::document)
        return false;
    bson::cursor first{v.as_document()};
    return first.next() && first.name().starts_with("$") && first.name() != "$ref" &&
           first.name() != "$id" && first.name() != "$db";
}

node compile_operators(std::string_view path, bson::view operators);

node compile_regex(std::string_view path, const bson::cursor& pattern, bson::view operators) {
    std::string options;
    std::string text;
    if (pattern.kind() == bson::type::regex) {
        text = pattern.as_regex().pattern;
        options = pattern.as_regex().options;
    } else if (pattern.kind() == bson::type::string) {
        text = pattern.as_string();
    } else {
        throw server_error(code::bad_value, "$regex has to be a string");
    }
    if (const auto o = bson::find(operators, "$options")) {
        if (o->kind() != bson::type::string)
            throw server_error(code::bad_value, "$options has to be a string");
        if (!options.empty())
            throw server_error(51075, "options set in both $regex and $options");
        options = o->as_string();
    }
    node out = leaf(op::regex, path);
    out.patterns.emplace_back(text, options);
    return out;
}

node compile_operator(std::string_view path, const bson::cursor& c, bson::view all) {
    static const std::map<std::string_view, op> comparisons = {
        {"$eq", op::eq}, {"$gt", op::gt}, {"$gte", op::gte}, {"$lt", op::lt}, {"$lte", op::lte}};
    const std::string_view name = c.name();
    if (const auto at = comparisons.find(name); at != comparisons.end()) {
        node out = leaf(at->second, path);
        out.operands.emplace_back(c);
        return out;
    }
    if (name == "$ne")
        return negated(equals(path, c));
    if (name == "$in")
        return membership(path, c, name);
    if (name == "$nin")
        return negated(membership(path, c, name));
    if (name == "$exists")
        return c.truthy() ? leaf(op::exists, path) : negated(leaf(op::exists, path));
    if (name == "$regex")
        return compile_regex(path, c, all);
    if (name == "$not") {
        if (c.kind() == bson::type::regex)
            return negated(equals(path, c));
        if (!is_operator_document(c))
            throw server_error(code::bad_value, "$not needs a regex or a document");
        return negated(compile_operators(path, c.as_document()));
    }
    if (name == "$size") {
        if (!c.as_integer())
            throw server_error(code::bad_value, "$size needs a number");
        node out = leaf(op::size, path);
        out.operands.emplace_back(c);
        return out;
    }
    if (name == "$all" && c.kind() == bson::type::array) {
        node out(op::all_of);
        for (bson::cursor e{c.as_document()}; e.next();)
            out.children.push_back(equals(path, e));
        return out;
    }
    if (name == "$elemMatch" && c.kind() == bson::type::document) {
        node out = leaf(op::elem_match, path);
        if (is_operator_document(c)) {
            out.children.push_back(compile_operators("", c.as_document()));
            out.children[0].on_value = true;
        } else {
            out.children.push_back(std::move(*compile_document(c.as_document())));
        }
        return out;
    }
    throw server_error(code::bad_value, "unknown operator: " + std::string(name));
}

node compile_operators(std::string_view path, bson::view operators) {
    node out(op::all_of);
    for (bson::cursor c{operators}; c.next();) {
        if (c.name() == "$options") {
            if (!bson::find(operators, "$regex"))
                throw server_error(code::bad_value, "$options needs a $regex");
            continue;
        }
        out.children.push_back(compile_operator(path, c, operators));
    }
    return out;
}

node compile_list(op what, const bson::cursor& list) {
    if (list.kind() != bson::type::array || list.as_document().empty())
        throw server_error(code::bad_value, std::string("$and/$or/$nor must be a nonempty array"));
    node out(what);
    for (bson::cursor c{list.as_document()}; c.next();) {
        if (c.kind() != bson::type::document)
            throw server_error(code::bad_value, "$or/$and/$nor entries need to be full objects");
        out.children.push_back(std::move(*compile_document(c.as_document())));
    }
    return out;
}

std::unique_ptr<node> compile_document(bson::view filter) {
    auto out = std::make_unique<node>(op::all_of);
    for (bson::cursor c{filter}; c.next();) {
        const std::string_view name = c.name();
        if (name == "$and")
            out->children.push_back(compile_list(op::all_of, c));
        else if (name == "$or")
            out->children.push_back(compile_list(op::any_of, c));
        else if (name == "$nor")
            out->children.push_back(compile_list(op::none_of, c));
        else if (name == "$comment")
            continue;
        else if (name == "$where")
            throw server_error(code::bad_value, "no globalScriptEngine in $where parsing");
        else if (name.starts_with("$"))
            throw server_error(code::bad_value, "unknown top level operator: " + std::string(name));
        else if (is_operator_document(c))
            out->children.push_back(compile_operators(name, c.as_document()));
        else
            out->children.push_back(equals(name, c));
    }
    return out;
}

} // namespace

matcher matcher::compile(bson::view filter) {
    matcher out;
    out.root_ = compile_document(filter);
    return out;
}

matcher matcher::compile_for_value(const bson::cursor& condition) {
    matcher out;
    if (is_operator_document(condition)) {
        *out.root_ = compile_operators("", condition.as_document());
    } else if (condition.kind() == bson::type::document) {
        out.root_ = compile_document(condition.as_document());
        return out;
    } else {
        *out.root_ = equals("", condition);
    }
    out.root_->on_value = true;
    return out;
}

} // namespace cdc::test::standin
