// SPDX-License-Identifier: Apache-2.0
#include "core/event/renamed_field.hpp"

#include "core/event/field_path.hpp"

#include <utility>

namespace cdc::event {

renamed_field::renamed_field(std::vector<std::string> path, std::string new_name, std::string rule)
    : path_(std::move(path))
    , new_name_(std::move(new_name))
    , rule_(std::move(rule)) {}

renamed_field::result renamed_field::copy_document(bson::view document,
                                                   std::vector<std::uint8_t>& out) const {
    bson::appender to{out};
    const auto opened = to.open();
    const auto done = copy_elements(document, false, 0, to, 0);
    to.close(opened);
    return done;
}

/// `at`: parts of the path that lead to the element.
renamed_field::result renamed_field::copy_element(const bson::cursor& element,
                                                  std::string_view name, std::size_t at,
                                                  bson::appender& to, unsigned depth) const {
    const bool is_array = element.kind() == bson::type::array;
    if (!is_array && element.kind() != bson::type::document) {
        to.copy(element, name);
        return result::done;
    }
    const auto opened = to.open(element.kind(), name);
    const auto done = copy_elements(element.as_document(), is_array, at, to, depth + 1);
    to.close(opened);
    return done;
}

renamed_field::result renamed_field::copy_elements(bson::view from, bool is_array, std::size_t at,
                                                   bson::appender& to, unsigned depth) const {
    if (depth > deepest_document)
        return result::malformed;
    const bool is_last = at + 1 == path_.size();
    std::optional<bson::cursor> moved;
    bool taken = false;
    bson::cursor c{from};
    while (c.next()) {
        auto done = result::done;
        if (is_array) {
            done = copy_element(c, c.name(), at, to, depth);
        } else if (c.name() != path_[at]) {
            taken = taken || (is_last && c.name() == new_name_);
            to.copy(c, c.name());
        } else if (is_last) {
            moved = c;
        } else {
            done = copy_element(c, c.name(), at + 1, to, depth);
        }
        if (done != result::done)
            return done;
    }
    if (c.malformed())
        return result::malformed;
    if (moved && taken)
        return result::taken;
    if (moved)
        to.copy(*moved, new_name_);
    return result::done;
}

std::optional<renamed_field::match> renamed_field::follow(std::string_view path) const noexcept {
    match m;
    for (field_path_parts parts{path}; m.parts < path_.size() && parts.next();) {
        if (parts.part() == path_[m.parts]) {
            m.begin = static_cast<std::size_t>(parts.part().data() - path.data());
            m.end = m.begin + parts.part().size();
            ++m.parts;
        } else if (m.parts == 0 || !is_array_index(parts.part())) {
            return std::nullopt;
        }
    }
    return m;
}

std::string renamed_field::with_new_name(std::string_view path, const match& m) const {
    std::string out{path.substr(0, m.begin)};
    return out.append(new_name_).append(path.substr(m.end));
}

std::optional<std::string> renamed_field::renamed(std::string_view path) const {
    const auto m = follow(path);
    if (!m || m->parts < path_.size())
        return std::nullopt;
    return with_new_name(path, *m);
}

renamed_field::result renamed_field::copy_updated_fields(bson::view updated,
                                                         std::vector<std::uint8_t>& out) const {
    bson::appender to{out};
    const auto opened = to.open();
    std::vector<std::pair<std::string, bson::cursor>> moved;
    bson::cursor c{updated};
    while (c.next()) {
        const auto m = follow(c.name());
        if (!m) {
            to.copy(c, c.name());
        } else if (m->parts == path_.size()) {
            moved.emplace_back(with_new_name(c.name(), *m), c);
        } else if (const auto done = copy_element(c, c.name(), m->parts, to, 0);
                   done != result::done) {
            return done;
        }
    }
    if (c.malformed())
        return result::malformed;
    for (const auto& [name, element] : moved) {
        if (bson::find(updated, name))
            return result::taken;
        to.copy(element, name);
    }
    to.close(opened);
    return result::done;
}

} // namespace cdc::event
