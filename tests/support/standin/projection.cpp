// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/projection.hpp"

#include "tests/support/standin/field_path.hpp"
#include "tests/support/standin/server_error.hpp"
#include "tests/support/standin/value.hpp"

#include <algorithm>
#include <optional>

namespace cdc::test::standin {

namespace {

using paths = std::vector<std::span<const std::string>>;

value include(const value& v, const paths& wanted);

value include_in_document(const value& doc, const paths& wanted) {
    value out = value::empty_document();
    for (const auto& [name, child] : doc.children()) {
        paths deeper;
        bool whole = false;
        for (const auto& p : wanted) {
            if (p.front() != name)
                continue;
            whole |= p.size() == 1;
            if (p.size() > 1)
                deeper.push_back(p.subspan(1));
        }
        if (whole)
            out.children().emplace_back(name, child);
        else if (!deeper.empty() && child.is_container())
            out.children().emplace_back(name, include(child, deeper));
    }
    return out;
}

value include(const value& v, const paths& wanted) {
    if (v.is_document())
        return include_in_document(v, wanted);
    value out = value::empty_array();
    for (const auto& [name, child] : v.children())
        if (child.is_container())
            out.push_back(include(child, wanted));
    return out;
}

void exclude(value& v, std::span<const std::string> path) {
    if (v.is_array()) {
        for (auto& [name, child] : v.children())
            if (child.is_container())
                exclude(child, path);
        return;
    }
    if (path.size() == 1) {
        v.erase(path.front());
        return;
    }
    value* child = v.find(path.front());
    if (child != nullptr && child->is_container())
        exclude(*child, path.subspan(1));
}

} // namespace

projection::projection(bson::view spec) {
    std::optional<bool> inclusive;
    for (bson::cursor c{spec}; c.next();) {
        empty_ = false;
        const bool number_or_bool = c.kind() == bson::type::boolean ||
                                    c.kind() == bson::type::double_ ||
                                    c.kind() == bson::type::int32 || c.kind() == bson::type::int64;
        if (!number_or_bool || c.name().starts_with("$"))
            throw server_error(code::bad_value, "this stand-in only keeps or leaves out fields: " +
                                                    std::string(c.name()));
        if (c.name() == "_id") {
            with_id_ = c.truthy();
            continue;
        }
        if (inclusive && *inclusive != c.truthy())
            throw server_error(*inclusive ? 31254 : 31253,
                               std::string("Cannot do ") +
                                   (c.truthy() ? "inclusion" : "exclusion") + " on field " +
                                   std::string(c.name()) + " in " +
                                   (*inclusive ? "inclusion" : "exclusion") + " projection");
        inclusive = c.truthy();
        paths_.push_back(split_path(c.name()));
    }
    // Only `_id` named: keeping it alone, or leaving it out alone.
    inclusive_ = inclusive.value_or(!empty_ && with_id_);
}

bson::document projection::apply(bson::view doc) const {
    value v = value::of_document(doc);
    if (inclusive_) {
        paths wanted(paths_.begin(), paths_.end());
        const std::vector<std::string> id{"_id"};
        if (with_id_)
            wanted.emplace_back(id);
        return include_in_document(v, wanted).to_document();
    }
    for (const auto& path : paths_)
        exclude(v, path);
    if (!with_id_)
        v.erase("_id");
    return v.to_document();
}

} // namespace cdc::test::standin
