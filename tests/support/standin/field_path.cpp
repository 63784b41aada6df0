// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/field_path.hpp"

#include "tests/support/standin/value.hpp"

namespace cdc::test::standin {

namespace {

using visitor = std::function<bool(const bson::cursor*)>;

bool walk_document(bson::view doc, std::span<const std::string> path, const visitor& visit);

bool walk_value(const bson::cursor& v, std::span<const std::string> rest, const visitor& visit) {
    if (rest.empty()) {
        if (v.kind() == bson::type::array)
            for (bson::cursor e{v.as_document()}; e.next();)
                if (visit(&e))
                    return true;
        return visit(&v);
    }
    if (v.kind() == bson::type::document)
        return walk_document(v.as_document(), rest, visit);
    if (v.kind() != bson::type::array)
        return visit(nullptr);
    for (bson::cursor e{v.as_document()}; e.next();)
        if (e.kind() == bson::type::document && walk_document(e.as_document(), rest, visit))
            return true;
    if (array_index(rest.front()) >= 0)
        if (const auto at = bson::find(v.as_document(), rest.front()))
            return walk_value(*at, rest.subspan(1), visit);
    return false;
}

bool walk_document(bson::view doc, std::span<const std::string> path, const visitor& visit) {
    const auto at = bson::find(doc, path.front());
    if (!at)
        return visit(nullptr);
    return walk_value(*at, path.subspan(1), visit);
}

} // namespace

std::vector<std::string> split_path(std::string_view path) {
    std::vector<std::string> out;
    while (true) {
        const std::size_t dot = path.find('.');
        out.emplace_back(path.substr(0, dot));
        if (dot == std::string_view::npos)
            return out;
        path.remove_prefix(dot + 1);
    }
}

bool walk_path(bson::view doc, std::span<const std::string> path, const visitor& visit) {
    return walk_document(doc, path, visit);
}

} // namespace cdc::test::standin
