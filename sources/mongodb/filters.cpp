// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/filters.hpp"

#include <fmt/format.h>

namespace cdc::mongodb {

namespace {

constexpr std::string_view database_include_option = "database.include.list";
constexpr std::string_view database_exclude_option = "database.exclude.list";
constexpr std::string_view collection_include_option = "collection.include.list";
constexpr std::string_view collection_exclude_option = "collection.exclude.list";

std::string_view trimmed(std::string_view s) noexcept {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = s.find_first_not_of(blanks);
    if (first == std::string_view::npos)
        return {};
    return s.substr(first, s.find_last_not_of(blanks) - first + 1);
}

error::diagnostics in_option(error::diagnostics d, std::string_view option, std::string_view item) {
    d.text = fmt::format("{}: item '{}' {}{}", option, item,
                         d.text.starts_with("not ") ? "is " : "", d.text);
    return d;
}

error::result<std::vector<pattern>> compile_list(const std::vector<std::string>& items,
                                                 std::string_view option) {
    std::vector<pattern> out;
    for (const auto& raw : items) {
        const auto item = trimmed(raw);
        if (item.empty())
            continue;
        auto compiled = pattern::compile(item);
        if (!compiled)
            return in_option(std::move(compiled).error(), option, item);
        out.push_back(std::move(*compiled));
    }
    return out;
}

error::diagnostics both(std::string_view include, std::string_view exclude) {
    return error::fail(
        error::errc::configuration,
        fmt::format("{} and {} cannot be used together: use one of them", include, exclude));
}

error::result<bool> any_of(const std::vector<pattern>& list, std::string_view text,
                           std::string_view option) {
    for (const auto& p : list) {
        auto m = p.matches(text);
        if (!m)
            return in_option(std::move(m).error(), option, p.text());
        if (*m)
            return true;
    }
    return false;
}

} // namespace

error::result<filters> filters::compile(const filter_lists& lists) {
    filters out;
    const auto take = [](std::vector<pattern>& into, const std::vector<std::string>& items,
                         std::string_view option) -> error::result<void> {
        auto list = compile_list(items, option);
        if (!list)
            return std::move(list).error();
        into = std::move(*list);
        return error::result<void>{};
    };
    if (auto r = take(out.database_include_, lists.database_include, database_include_option); !r)
        return std::move(r).error();
    if (auto r = take(out.database_exclude_, lists.database_exclude, database_exclude_option); !r)
        return std::move(r).error();
    if (auto r = take(out.collection_include_, lists.collection_include, collection_include_option);
        !r)
        return std::move(r).error();
    if (auto r = take(out.collection_exclude_, lists.collection_exclude, collection_exclude_option);
        !r)
        return std::move(r).error();
    if (!out.database_include_.empty() && !out.database_exclude_.empty())
        return both(database_include_option, database_exclude_option);
    if (!out.collection_include_.empty() && !out.collection_exclude_.empty())
        return both(collection_include_option, collection_exclude_option);
    return out;
}

bool filters::is_internal(std::string_view db, std::string_view collection) noexcept {
    return db == "local" || db == "admin" || db == "config" || collection.starts_with("system.");
}

error::result<bool> filters::wants(std::string_view db, std::string_view collection) {
    // Database names cannot hold a dot, so the text tells namespaces apart.
    key_.assign(db).append(1, '.').append(collection);
    if (const auto it = cache_.find(std::string_view(key_)); it != cache_.end())
        return it->second;
    error::result<bool> answer = false;
    if (!is_internal(db, collection))
        answer = decide(db, key_);
    if (!answer)
        return answer;
    if (cache_.size() >= cache_capacity)
        cache_.clear(); // only a server that makes up collections gets here; start over
    cache_.emplace(key_, *answer);
    return answer;
}

error::result<bool> filters::wants_database(std::string_view db) const {
    if (is_internal(db, {}))
        return false;
    if (!database_include_.empty()) {
        auto m = any_of(database_include_, db, database_include_option);
        if (!m || !*m)
            return m;
    }
    auto m = any_of(database_exclude_, db, database_exclude_option);
    if (!m)
        return m;
    return !*m;
}

error::result<bool> filters::decide(std::string_view db, std::string_view name_space) const {
    if (auto m = wants_database(db); !m || !*m)
        return m;
    if (!collection_include_.empty()) {
        auto m = any_of(collection_include_, name_space, collection_include_option);
        if (!m || !*m)
            return m;
    }
    auto m = any_of(collection_exclude_, name_space, collection_exclude_option);
    if (!m)
        return m;
    return !*m;
}

} // namespace cdc::mongodb
