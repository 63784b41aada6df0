// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/matcher.hpp"

#include "tests/support/standin/field_path.hpp"
#include "tests/support/standin/key_string.hpp"
#include "tests/support/standin/matcher_node.hpp"

namespace cdc::test::standin {

namespace {

using node = matcher::node;
using op = match_op;

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

bool matcher::matches(bson::view doc) const {
    return root_->matches(doc);
}

bool matcher::matches_value(const bson::cursor& v) const {
    if (root_->on_value)
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
