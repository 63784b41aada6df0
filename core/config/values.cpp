// SPDX-License-Identifier: Apache-2.0
#include "core/config/values.hpp"

#include "core/config/option_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace cdc::config {

values::values(const option_table& table, const std::filesystem::path& folder)
    : table_(&table)
    , entries_(table.rows().size()) {
    for (std::size_t i = 0; i < entries_.size(); ++i)
        entries_[i].value = table.default_of(table.rows()[i], folder);
}

std::pair<const option*, const values::entry*> values::at(std::string_view name) const {
    const auto& rows = table_->rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].name == name)
            return {&rows[i], &entries_[i]};
    }
    throw std::logic_error(fmt::format("option {} is not in the table {}", name, table_->name()));
}

template <class T>
const T& values::get(std::string_view name) const {
    const auto [row, found] = at(name);
    if (std::holds_alternative<std::monostate>(found->value))
        throw std::logic_error(fmt::format("option {} has no value", name));
    if (const T* value = std::get_if<T>(&found->value))
        return *value;
    throw std::logic_error(
        fmt::format("option {} is of type {}, read as another", name, type_name(row->type)));
}

const std::string& values::text(std::string_view name) const {
    return get<std::string>(name);
}

bool values::boolean(std::string_view name) const {
    return get<bool>(name);
}

std::int64_t values::integer(std::string_view name) const {
    if (at(name).first->type != option_type::integer)
        throw std::logic_error(fmt::format("option {} is not an integer", name));
    return get<std::int64_t>(name);
}

std::chrono::milliseconds values::duration(std::string_view name) const {
    if (at(name).first->type != option_type::duration_ms)
        throw std::logic_error(fmt::format("option {} is not a duration", name));
    return std::chrono::milliseconds(get<std::int64_t>(name));
}

std::uint64_t values::bytes(std::string_view name) const {
    if (at(name).first->type != option_type::bytes)
        throw std::logic_error(fmt::format("option {} is not a size", name));
    return static_cast<std::uint64_t>(get<std::int64_t>(name));
}

const std::vector<std::string>& values::list(std::string_view name) const {
    static const std::vector<std::string> none;
    const auto [row, found] = at(name);
    if (row->type == option_type::list && std::holds_alternative<std::monostate>(found->value))
        return none;
    return get<std::vector<std::string>>(name);
}

std::filesystem::path values::path(std::string_view name) const {
    if (at(name).first->type != option_type::path)
        throw std::logic_error(fmt::format("option {} is not a path", name));
    return get<std::string>(name);
}

bool values::has(std::string_view name) const {
    return !std::holds_alternative<std::monostate>(at(name).second->value);
}

bool values::given(std::string_view name) const {
    return at(name).second->given;
}

std::string values::shown(std::string_view name) const {
    const auto [row, found] = at(name);
    if (std::holds_alternative<std::monostate>(found->value))
        return {};
    if (is_secret(*row))
        return "***";
    if (const auto* text = std::get_if<std::string>(&found->value))
        return *text;
    if (const auto* flag = std::get_if<bool>(&found->value))
        return *flag ? "true" : "false";
    if (const auto* number = std::get_if<std::int64_t>(&found->value))
        return fmt::format("{}", *number);
    return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(found->value), ", "));
}

} // namespace cdc::config
