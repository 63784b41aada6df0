// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/sort_order.hpp"

#include "tests/support/standin/field_path.hpp"
#include "tests/support/standin/key_string.hpp"
#include "tests/support/standin/server_error.hpp"
#include "tests/support/standin/value.hpp"

#include <optional>

namespace cdc::test::standin {

namespace {

std::optional<bson::cursor> sort_value(bson::view doc, const std::vector<std::string>& path,
                                       int direction) {
    std::optional<bson::cursor> out;
    walk_path(doc, path, [&](const bson::cursor* v) {
        // The array itself comes last, behind its elements, and only counts when it has none.
        if (v != nullptr && !(v->kind() == bson::type::array && out) &&
            (!out || compare(*v, *out) * direction < 0))
            out = *v;
        return false;
    });
    return out;
}

} // namespace

sort_order::sort_order(bson::view spec) {
    for (bson::cursor c{spec}; c.next();) {
        const auto direction = c.as_integer();
        if (!direction || (*direction != 1 && *direction != -1))
            throw server_error(code::bad_value,
                               "$sort key ordering must be 1 (for ascending) or -1 "
                               "(for descending)");
        if (c.name() == "$natural") {
            natural_ = static_cast<int>(*direction);
            continue;
        }
        keys_.push_back({split_path(c.name()), static_cast<int>(*direction)});
    }
}

bool sort_order::before(bson::view a, bson::view b) const {
    static const element null{value()};
    for (const auto& k : keys_) {
        const auto left = sort_value(a, k.path, k.direction);
        const auto right = sort_value(b, k.path, k.direction);
        const int order = compare(left ? *left : null.cursor(), right ? *right : null.cursor());
        if (order != 0)
            return order * k.direction < 0;
    }
    return false;
}

} // namespace cdc::test::standin
