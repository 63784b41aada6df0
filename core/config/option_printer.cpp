// SPDX-License-Identifier: Apache-2.0
#include "core/config/option_printer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace cdc::config {

namespace {

constexpr std::size_t width = 100;
constexpr std::string_view indent = "      ";

/// `text` in lines of at most `width` bytes, each after `indent`.
std::string wrapped(std::string_view text) {
    std::string out, line;
    while (!text.empty()) {
        const auto blank = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, blank);
        if (!line.empty() && indent.size() + line.size() + 1 + word.size() > width) {
            out += fmt::format("{}{}\n", indent, line);
            line.clear();
        }
        line += fmt::format("{}{}", line.empty() ? "" : " ", word);
        text.remove_prefix(std::min(blank + 1, text.size()));
    }
    return out + fmt::format("{}{}\n", indent, line);
}

std::string default_text(const option& row) {
    if (row.required)
        return "required";
    if (row.fallback.empty())
        return "none";
    return std::string(row.fallback);
}

std::string type_text(const option& row) {
    const auto unit = unit_of(row);
    return unit.empty() || row.type == option_type::bytes
               ? std::string(type_name(row.type))
               : fmt::format("{} ({})", type_name(row.type), unit);
}

/// Allowed values, where they say more than the type.
std::string values_text(const option& row) {
    const bool says_more = !row.allowed.empty() || !row.allowed_text.empty() || row.min || row.max;
    return says_more ? allowed_values(row) : std::string();
}

std::string shown_name(const option& row) {
    return row.prefix ? fmt::format("{}.*", row.name) : std::string(row.name);
}

std::string plain_row(const option& row) {
    std::string out =
        fmt::format("  {}  [{}, {}{}{}]\n", row.name, type_text(row),
                    row.required || row.fallback.empty() ? "" : "default ",
                    row.required || !row.fallback.empty() ? default_text(row) : "no default",
                    row.restart ? "" : ", changes without a restart");
    out += wrapped(row.doc);
    if (const auto allowed = values_text(row); !allowed.empty())
        out += wrapped("Values: " + allowed);
    return out;
}

std::string escaped(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.insert(at, 1, '\\');
    return text;
}

std::string markdown_row(const option& row) {
    const std::string fallback = row.required || row.fallback.empty()
                                     ? default_text(row)
                                     : fmt::format("`{}`", row.fallback);
    return fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, type_text(row), fallback,
                       escaped(values_text(row)), escaped(std::string(row.doc)));
}

std::vector<std::string> names(const option_table& table, option_status status) {
    std::vector<std::string> out;
    for (const auto& row : table.rows()) {
        if (row.status == status)
            out.push_back(status == option_status::renamed
                              ? fmt::format("{} (now {})", shown_name(row), row.instead)
                              : shown_name(row));
    }
    return out;
}

std::string other_keys(const option_table& table, reference_format format) {
    constexpr std::pair<option_status, std::string_view> kinds[] = {
        {option_status::not_supported_yet, "Known, not supported yet"},
        {option_status::renamed, "Old names, refused"},
        {option_status::removed, "Old options, refused"},
        {option_status::ignored, "Ignored with a warning"},
    };
    std::string out;
    for (const auto& [status, title] : kinds) {
        const auto found = names(table, status);
        if (found.empty())
            continue;
        const std::string all = fmt::format("{}", fmt::join(found, ", "));
        out += format == reference_format::markdown
                   ? fmt::format("\n{}: {}.\n", title, all)
                   : fmt::format("\n  {}:\n{}", title, wrapped(all));
    }
    return out;
}

} // namespace

std::string print_reference(const std::vector<const option_table*>& tables,
                            reference_format format) {
    const bool markdown = format == reference_format::markdown;
    std::string out;
    for (const auto* table : tables) {
        out += markdown ? fmt::format("{}### {}\n\n", out.empty() ? "" : "\n", table->title())
                        : fmt::format("{}{}\n", out.empty() ? "" : "\n", table->title());
        if (markdown)
            out += "| Option | Type | Default | Values | Meaning |\n|---|---|---|---|---|\n";
        std::string_view group;
        for (const auto& row : table->rows()) {
            if (row.status != option_status::supported)
                continue;
            if (!markdown && row.group != group)
                out += fmt::format("\n {}\n", group = row.group);
            out += markdown ? markdown_row(row) : plain_row(row);
        }
        out += other_keys(*table, format);
    }
    return out;
}

} // namespace cdc::config
