// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/modifier.hpp"

#include "tests/support/standin/arithmetic.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/key_string.hpp"
#include "tests/support/standin/server_error.hpp"
#include "tests/support/standin/sort_order.hpp"

#include <algorithm>

namespace cdc::test::standin {

namespace {

using op = update::op;

std::string shown(const value& v) {
    return describe(element(v).cursor());
}

std::string shown_id(const value& doc) {
    const value* id = doc.find("_id");
    return id == nullptr ? "{}" : "{_id: " + shown(*id) + "}";
}

value* look_up(value& doc, const std::vector<std::string>& path) {
    value* at = &doc;
    for (const auto& part : path) {
        at = at->is_container() ? at->find(part) : nullptr;
        if (at == nullptr)
            return nullptr;
    }
    return at;
}

value* parent_of(value& doc, std::vector<std::string> path) {
    path.pop_back();
    return look_up(doc, path);
}

int order(const value& a, const value& b) {
    return compare(element(a).cursor(), element(b).cursor());
}

/// A whole number in a clause such as $slice.
std::optional<std::int64_t> clause(const value& operand, std::string_view name) {
    const value* v = operand.find(name);
    if (v == nullptr)
        return std::nullopt;
    const auto n = element(*v).cursor().as_integer();
    if (!n)
        throw server_error(code::bad_value, "The value for " + std::string(name) +
                                                " must be an integer value but was given type: " +
                                                std::string(type_name(v->kind())));
    return n;
}

const value* each_of(const value& operand) {
    return operand.is_document() ? operand.find("$each") : nullptr;
}

value::fields new_elements(const value& operand) {
    if (const value* each = each_of(operand))
        return each->children();
    return {{std::string(), operand}};
}

/// Makes the array at the modification's path if there is none; tells whether it had to.
std::pair<value*, bool> array_at(value& doc, const update::modification& m,
                                 const std::string& complaint) {
    value* at = look_up(doc, m.path);
    if (at == nullptr) {
        at = &create_path(doc, m.path);
        *at = value::empty_array();
        return {at, true};
    }
    if (!at->is_array())
        throw server_error(code::bad_value, complaint);
    return {at, false};
}

void sort_elements(value::fields& elements, const value& by) {
    if (by.is_document()) {
        const auto spec = by.to_document();
        const sort_order sorted(spec);
        std::stable_sort(elements.begin(), elements.end(), [&](const auto& a, const auto& b) {
            const auto doc = [](const value& v) {
                return v.is_document() ? v.to_document() : bson::document();
            };
            const auto left = doc(a.second);
            const auto right = doc(b.second);
            return sorted.before(left, right);
        });
        return;
    }
    const auto direction = element(by).cursor().as_integer();
    std::stable_sort(elements.begin(), elements.end(), [&](const auto& a, const auto& b) {
        return order(a.second, b.second) * *direction < 0;
    });
}

void push(value& doc, const update::modification& m, modification_log& log) {
    const value* old = look_up(doc, m.path);
    const std::string kind(old != nullptr ? type_name(old->kind()) : "");
    const auto [array, made] =
        array_at(doc, m,
                 "The field '" + m.path_text + "' must be an array but is of type " + kind +
                     " in document " + shown_id(doc));
    auto& elements = array->children();
    const value before = *array;
    const auto added = new_elements(m.operand);
    const bool has_clauses = each_of(m.operand) != nullptr;
    const auto count = static_cast<std::int64_t>(elements.size());

    std::int64_t position = count;
    if (has_clauses)
        if (const auto p = clause(m.operand, "$position"))
            position = *p >= 0 ? std::min(*p, count) : std::max<std::int64_t>(0, count + *p);
    bool appended = !made && count > 0 && position == count;
    elements.insert(elements.begin() + position, added.begin(), added.end());
    if (has_clauses) {
        if (const value* by = m.operand.find("$sort")) {
            sort_elements(elements, *by);
            appended = false;
        }
        if (const auto slice = clause(m.operand, "$slice")) {
            const auto keep = static_cast<std::size_t>(*slice < 0 ? -*slice : *slice);
            if (keep < elements.size()) {
                appended = false;
                if (*slice >= 0)
                    elements.resize(keep);
                else
                    elements.erase(elements.begin(),
                                   elements.end() - static_cast<std::ptrdiff_t>(keep));
            }
        }
    }
    if (!made && array->identical(before))
        return;
    if (!appended) {
        log.set.emplace_back(m.path_text, *array);
        return;
    }
    auto i = static_cast<std::size_t>(count);
    for (const auto& [name, v] : added)
        log.set.emplace_back(m.path_text + "." + std::to_string(i++), v);
}

void add_to_set(value& doc, const update::modification& m, modification_log& log) {
    const value* old = look_up(doc, m.path);
    const std::string kind(old != nullptr ? type_name(old->kind()) : "");
    const auto [array, made] = array_at(doc, m,
                                        "Cannot apply $addToSet to non-array field. Field named '" +
                                            m.path.back() + "' has non-array type " + kind);
    bool changed = made;
    for (const auto& [name, v] : new_elements(m.operand)) {
        const auto same = [&](const auto& e) { return order(e.second, v) == 0; };
        if (std::ranges::any_of(array->children(), same))
            continue;
        array->push_back(v);
        changed = true;
    }
    if (changed)
        log.set.emplace_back(m.path_text, *array);
}

void pull(value& doc, const update::modification& m, modification_log& log) {
    value* at = look_up(doc, m.path);
    if (at == nullptr)
        return;
    if (!at->is_array())
        throw server_error(code::bad_value, "Cannot apply $pull to a non-array value");
    const auto removed = std::erase_if(at->children(), [&](const auto& e) {
        return m.condition->matches_value(element(e.second).cursor());
    });
    if (removed != 0)
        log.set.emplace_back(m.path_text, *at);
}

void pop(value& doc, const update::modification& m, modification_log& log) {
    value* at = look_up(doc, m.path);
    if (at == nullptr)
        return;
    if (!at->is_array())
        throw server_error(code::type_mismatch, "Path '" + m.path_text +
                                                    "' contains an element of non-array type '" +
                                                    std::string(type_name(at->kind())) + "'");
    auto& elements = at->children();
    if (elements.empty())
        return;
    elements.erase(element(m.operand).cursor().as_integer() == 1 ? elements.end() - 1
                                                                 : elements.begin());
    log.set.emplace_back(m.path_text, *at);
}

void set(value& doc, const update::modification& m, const value& v, modification_log& log) {
    if (const value* old = look_up(doc, m.path); old != nullptr && old->identical(v))
        return;
    create_path(doc, m.path) = v;
    log.set.emplace_back(m.path_text, v);
}

void unset(value& doc, const std::vector<std::string>& path, const std::string& path_text,
           modification_log& log) {
    value* at = look_up(doc, path);
    if (at == nullptr)
        return;
    value* parent = parent_of(doc, path);
    if (parent->is_array())
        *at = value(); // an array keeps its length
    else
        parent->erase(path.back());
    log.unset.push_back(path_text);
}

void calculate(value& doc, const update::modification& m, modification_log& log) {
    const value* old = look_up(doc, m.path);
    if (old == nullptr) {
        set(doc, m, m.what == op::inc ? m.operand : multiply(value::of_int32(0), m.operand), log);
        return;
    }
    if (!is_number(old->kind()))
        throw server_error(code::type_mismatch,
                           std::string("Cannot apply ") + (m.what == op::inc ? "$inc" : "$mul") +
                               " to a value of non-numeric type. " + shown_id(doc) +
                               " has the field '" + m.path.back() + "' of non-numeric type " +
                               std::string(type_name(old->kind())));
    set(doc, m, m.what == op::inc ? add(*old, m.operand) : multiply(*old, m.operand), log);
}

void rename(value& doc, const update::modification& m, modification_log& log) {
    const value* source = look_up(doc, m.path);
    if (source == nullptr)
        return;
    const value* parent = parent_of(doc, m.path);
    if (parent->is_array())
        throw server_error(code::bad_value, "The source field cannot be an array element, '" +
                                                m.path_text + "' in doc with " + shown_id(doc));
    value moved = *source;
    std::string target;
    for (const auto& part : m.target)
        target += (target.empty() ? "" : ".") + part;
    unset(doc, m.path, m.path_text, log);
    create_path(doc, m.target) = moved;
    log.set.emplace_back(target, std::move(moved));
}

} // namespace

value& create_path(value& doc, const std::vector<std::string>& path) {
    value* at = &doc;
    std::string name; // of the field that `at` is
    for (const auto& part : path) {
        const auto index = array_index(part);
        if (!at->is_container() || (at->is_array() && index < 0)) {
            throw server_error(code::path_not_viable, "Cannot create field '" + part +
                                                          "' in element {" + name + ": " +
                                                          shown(*at) + "}");
        }
        value* child = at->find(part);
        if (child == nullptr) {
            if (at->is_array()) {
                if (index > static_cast<std::int64_t>(at->children().size()) + 1'500'000)
                    throw server_error(code::bad_value, "The maximum array index was exceeded");
                at->children().resize(static_cast<std::size_t>(index) + 1);
            } else {
                at->set(part, value());
            }
            child = at->find(part);
            if (&part != &path.back())
                *child = value::empty_document();
        }
        at = child;
        name = part;
    }
    return *at;
}

void check_push(const value& operand) {
    const value* each = each_of(operand);
    if (each == nullptr)
        return;
    if (!each->is_array())
        throw server_error(code::bad_value,
                           "The argument to $each in $push must be an array but it "
                           "was of type: " +
                               std::string(type_name(each->kind())));
    for (const auto& [name, v] : operand.children()) {
        if (name != "$each" && name != "$slice" && name != "$position" && name != "$sort")
            throw server_error(code::bad_value, "Unrecognized clause in $push: " + name);
        const auto n = element(v).cursor().as_integer();
        if (name == "$sort" && !v.is_document() && n != 1 && n != -1)
            throw server_error(code::bad_value,
                               "The $sort is invalid: use 1/-1 to sort the whole element, or "
                               "{field:1/-1} to sort embedded fields");
    }
    clause(operand, "$slice");
    clause(operand, "$position");
}

void modify(value& doc, const update::modification& m, bool inserting, modification_log& log) {
    switch (m.what) {
    case op::set_on_insert:
        if (!inserting)
            return;
        [[fallthrough]];
    case op::set:
        set(doc, m, m.operand, log);
        return;
    case op::unset:
        unset(doc, m.path, m.path_text, log);
        return;
    case op::inc:
    case op::mul:
        calculate(doc, m, log);
        return;
    case op::min:
    case op::max: {
        const value* old = look_up(doc, m.path);
        const int sign = m.what == op::min ? 1 : -1;
        if (old == nullptr || order(m.operand, *old) * sign < 0)
            set(doc, m, m.operand, log);
        return;
    }
    case op::rename:
        rename(doc, m, log);
        return;
    case op::push:
        push(doc, m, log);
        return;
    case op::add_to_set:
        add_to_set(doc, m, log);
        return;
    case op::pull:
        pull(doc, m, log);
        return;
    case op::pop:
        pop(doc, m, log);
        return;
    }
}

} // namespace cdc::test::standin
