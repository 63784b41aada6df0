// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/matcher.hpp"

#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/field_path.hpp"
#include "tests/support/standin/key_string.hpp"
#include "tests/support/standin/regex_program.hpp"
#include "tests/support/standin/server_error.hpp"

#include <map>

namespace cdc::test::standin {

namespace {

enum class op {
    all_of,
    any_of,
    none_of,
    eq,
    gt,
    gte,
    lt,
    lte,
    in,
    exists,
    regex,
    size,
    elem_match
};

std::unique_ptr<matcher::node> compile_document(bson::view filter);

} // namespace

struct matcher::node {
    op what = op::all_of;
    std::vector<node> children;
    std::string path_text;
    std::vector<std::string> path;
    bool on_value = false; ///< a condition on one value, without a path
    std::vector<element> operands;
    std::vector<regex_program> patterns;

    node() = default;
    explicit node(op w)
        : what(w) {}

    bool matches(bson::view doc) const;
    bool accepts(const bson::cursor* v) const;
    bool accepts_value_alone(const bson::cursor& v) const;
};

namespace {

using node = matcher::node;

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

bool is_nothing(const bson::cursor* v) {
    return v == nullptr || v->kind() == bson::type::null || v->kind() == bson::type::undefined;
}

} // namespace

bool matcher::node::accepts(const bson::cursor* v) const {
    const auto one = [&](const element& operand) {
        const bson::cursor o = operand.cursor();
        if (o.kind() == bson::type::null)
            return is_nothing(v);
        return v != nullptr && type_bracket(v->kind()) == type_bracket(o.kind()) &&
               compare(*v, o) == 0;
    };
    switch (what) {
    case op::eq:
        return one(operands[0]);
    case op::in:
        for (const auto& operand : operands)
            if (one(operand))
                return true;
        [[fallthrough]];
    case op::regex:
        if (v == nullptr || (v->kind() != bson::type::string && v->kind() != bson::type::symbol))
            return false;
        for (const auto& pattern : patterns)
            if (pattern.found_in(v->as_string()))
                return true;
        return false;
    case op::exists:
        return v != nullptr;
    case op::gt:
    case op::gte:
    case op::lt:
    case op::lte: {
        const bson::cursor o = operands[0].cursor();
        if (o.kind() == bson::type::null)
            return (what == op::gte || what == op::lte) && is_nothing(v);
        const bool any_type = o.kind() == bson::type::min_key || o.kind() == bson::type::max_key;
        if (v == nullptr || (!any_type && type_bracket(v->kind()) != type_bracket(o.kind())))
            return false;
        const int order = compare(*v, o);
        return what == op::gt    ? order > 0
               : what == op::gte ? order >= 0
               : what == op::lt  ? order < 0
                                 : order <= 0;
    }
    default:
        return false;
    }
}

bool matcher::node::accepts_value_alone(const bson::cursor& v) const {
    switch (what) {
    case op::all_of:
        for (const auto& child : children)
            if (!child.accepts_value_alone(v))
                return false;
        return true;
    case op::any_of:
        for (const auto& child : children)
            if (child.accepts_value_alone(v))
                return true;
        return false;
    case op::none_of:
        for (const auto& child : children)
            if (child.accepts_value_alone(v))
                return false;
        return true;
    default:
        return accepts(&v);
    }
}

bool matcher::node::matches(bson::view doc) const {
    switch (what) {
    case op::all_of:
        for (const auto& child : children)
            if (!child.matches(doc))
                return false;
        return true;
    case op::any_of:
        for (const auto& child : children)
            if (child.matches(doc))
                return true;
        return false;
    case op::none_of:
        for (const auto& child : children)
            if (child.matches(doc))
                return false;
        return true;
    case op::size:
    case op::elem_match: {
        bool found = false;
        walk_path(doc, path, [&](const bson::cursor* v) {
            if (v == nullptr || v->kind() != bson::type::array)
                return false;
            std::int64_t count = 0;
            for (bson::cursor e{v->as_document()}; e.next(); ++count) {
                if (what == op::size)
                    continue;
                const node& inner = children[0];
                if (inner.on_value
                        ? inner.accepts_value_alone(e)
                        : e.kind() == bson::type::document && inner.matches(e.as_document()))
                    found = true;
            }
            if (what == op::size)
                found = count == operands[0].cursor().as_integer();
            return found;
        });
        return found;
    }
    default:
        return walk_path(doc, path, [this](const bson::cursor* v) { return accepts(v); });
    }
}

matcher::matcher()
    : root_(std::make_unique<node>()) {}
matcher::matcher(matcher&&) noexcept = default;
matcher& matcher::operator=(matcher&&) noexcept = default;
matcher::~matcher() = default;

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

bool matcher::matches(bson::view doc) const {
    return root_->matches(doc);
}

bool matcher::matches_value(const bson::cursor& v) const {
    const bool on_value = root_->what != op::all_of ||
                          (!root_->children.empty() && root_->children[0].path_text.empty());
    if (on_value)
        return root_->accepts_value_alone(v);
    return v.kind() == bson::type::document && root_->matches(v.as_document());
}

namespace {

bool mentions_in(const node& n, std::string_view field) {
    if (!n.path.empty() && n.path.front() == field)
        return true;
    for (const auto& child : n.children)
        if (mentions_in(child, field))
            return true;
    return false;
}

void equalities_in(const node& n,
                   const std::function<void(std::string_view, const bson::cursor&)>& use) {
    if (n.what == op::all_of)
        for (const auto& child : n.children)
            equalities_in(child, use);
    else if (n.what == op::eq)
        use(n.path_text, n.operands[0].cursor());
}

} // namespace

bool matcher::mentions(std::string_view field) const {
    return mentions_in(*root_, field);
}

void matcher::for_each_equality(
    const std::function<void(std::string_view, const bson::cursor&)>& use) const {
    equalities_in(*root_, use);
}

std::optional<bson::cursor> matcher::equality(std::string_view path) const {
    std::optional<bson::cursor> out;
    for_each_equality([&](std::string_view p, const bson::cursor& v) {
        if (p == path)
            out = v;
    });
    return out;
}

} // namespace cdc::test::standin
