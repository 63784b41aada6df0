// SPDX-License-Identifier: Apache-2.0
#include "core/event/excluded_fields.hpp"

#include "core/event/field_path.hpp"

namespace cdc::event {

const excluded_fields::node* excluded_fields::node::child(std::string_view wanted) const noexcept {
    for (const auto& c : children)
        if (c->name == wanted)
            return c.get();
    return nullptr;
}

void excluded_fields::add(const std::vector<std::string>& path) {
    node* at = &root_;
    for (const auto& part : path) {
        node* next = nullptr;
        for (const auto& c : at->children)
            if (c->name == part)
                next = c.get();
        if (next == nullptr) {
            at->children.push_back(std::make_unique<node>());
            next = at->children.back().get();
            next->name = part;
        }
        at = next;
    }
    at->excluded = true;
}

bool excluded_fields::copy_document(bson::view document, std::vector<std::uint8_t>& out) const {
    bson::appender to{out};
    const auto opened = to.open();
    if (!copy_elements(document, false, root_, to, 0))
        return false;
    to.close(opened);
    return true;
}

/// `rules`: those below the element, or null.
bool excluded_fields::copy_element(const bson::cursor& element, const node* rules,
                                   bson::appender& to, unsigned depth) {
    const bool is_array = element.kind() == bson::type::array;
    if (rules == nullptr || (!is_array && element.kind() != bson::type::document)) {
        to.copy(element, element.name());
        return true;
    }
    const auto opened = to.open(element.kind(), element.name());
    if (!copy_elements(element.as_document(), is_array, *rules, to, depth + 1))
        return false;
    to.close(opened);
    return true;
}

bool excluded_fields::copy_elements(bson::view from, bool is_array, const node& rules,
                                    bson::appender& to, unsigned depth) {
    if (depth > deepest_document)
        return false;
    bson::cursor c{from};
    while (c.next()) {
        // The elements of an array have no names of their own: the path goes on in each.
        const node* inside = is_array ? &rules : rules.child(c.name());
        if (!is_array && inside != nullptr && inside->excluded)
            continue;
        if (!copy_element(c, inside, to, depth))
            return false;
    }
    return !c.malformed();
}

const excluded_fields::node* excluded_fields::follow(std::string_view path) const noexcept {
    const node* at = &root_;
    for (field_path_parts parts{path}; parts.next();) {
        if (const node* next = at->child(parts.part()))
            at = next;
        else if (at == &root_ || !is_array_index(parts.part()))
            return nullptr;
        if (at->excluded)
            return at;
    }
    return at;
}

bool excluded_fields::covers(std::string_view path) const noexcept {
    const node* at = follow(path);
    return at != nullptr && at->excluded;
}

bool excluded_fields::copy_updated_fields(bson::view updated,
                                          std::vector<std::uint8_t>& out) const {
    bson::appender to{out};
    const auto opened = to.open();
    bson::cursor c{updated};
    while (c.next()) {
        const node* inside = follow(c.name());
        if (inside != nullptr && inside->excluded)
            continue;
        if (!copy_element(c, inside, to, 0))
            return false;
    }
    to.close(opened);
    return !c.malformed();
}

} // namespace cdc::event
