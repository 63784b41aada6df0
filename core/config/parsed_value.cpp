// SPDX-License-Identifier: Apache-2.0
#include "core/config/parsed_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace cdc::config {

namespace {

using result = std::variant<parsed_value, refusal>;

std::string trimmed(const std::string& text) {
    constexpr const char* blanks = " \t\r\n";
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::optional<std::int64_t> to_integer(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

std::optional<std::int64_t> to_bytes(std::string_view text) {
    constexpr std::pair<std::string_view, int> suffixes[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    int shift = 0;
    for (const auto& [suffix, bits] : suffixes) {
        if (text.ends_with(suffix)) {
            shift = bits;
            text.remove_suffix(suffix.size());
            while (text.ends_with(' '))
                text.remove_suffix(1);
            break;
        }
    }
    const auto number = to_integer(text);
    if (!number || *number < 0 || *number > (INT64_MAX >> shift))
        return std::nullopt;
    return *number << shift;
}

result checked(const option& row, parsed_value value, const std::string& text) {
    if (row.check) {
        if (auto problem = row.check(text); !problem.empty())
            return refusal{std::move(problem), std::string(row.allowed_text)};
    }
    return value;
}

result number(const option& row, const std::string& text) {
    const auto value = row.type == option_type::bytes ? to_bytes(text) : to_integer(text);
    if (!value)
        return refusal{row.type == option_type::bytes ? "is not a size" : "is not an integer",
                       allowed_values(row)};
    if ((row.min && *value < *row.min) || (row.max && *value > *row.max))
        return refusal{"is out of range", allowed_values(row)};
    return checked(row, *value, text);
}

result list(const option& row, const raw_value& raw) {
    std::vector<std::string> items;
    if (raw.kind == raw_value::kind_t::list) {
        for (const auto& item : raw.items) {
            if (auto text = trimmed(item); !text.empty())
                items.push_back(std::move(text));
        }
    } else {
        items = split_list(raw.text);
    }
    if (items.empty())
        return refusal{"names nothing: give at least one item or leave the key out", {}};
    for (const auto& item : items) {
        if (!row.check)
            break;
        auto problem = row.check(item);
        if (problem.empty())
            continue;
        if (items.size() > 1 && !raw.substituted)
            problem = fmt::format("(item {}) {}", &item - items.data() + 1, problem);
        return refusal{std::move(problem), std::string(row.allowed_text)};
    }
    return parsed_value(std::move(items));
}

} // namespace

std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> items;
    std::string item;
    const auto finish = [&] {
        if (auto done = trimmed(item); !done.empty())
            items.push_back(std::move(done));
        item.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ',') {
            finish();
        } else if (text[i] == '\\' && i + 1 < text.size()) {
            ++i;
            if (text[i] != ',')
                item += '\\';
            item += text[i];
        } else {
            item += text[i];
        }
    }
    finish();
    return items;
}

std::variant<parsed_value, refusal> parse_value(const option& row, const raw_value& raw,
                                                const std::filesystem::path& folder) {
    using kind_t = raw_value::kind_t;
    if (raw.kind == kind_t::map)
        return refusal{"is a mapping, not a value", allowed_values(row)};
    if (raw.kind == kind_t::null || (raw.kind == kind_t::scalar && raw.text.empty()))
        return refusal{"has no value: give one or leave the key out", allowed_values(row)};
    if (row.type == option_type::list)
        return list(row, raw);
    if (raw.kind == kind_t::list)
        return refusal{"is a list, not one value", allowed_values(row)};

    const std::string& text = raw.text;
    if (text.find('\0') != std::string::npos)
        return refusal{"holds a NUL byte", {}};
    for (const auto& [value, why] : row.refused) {
        if (text == value)
            return refusal{std::string(why), allowed_values(row)};
    }
    if (!row.allowed.empty() &&
        std::find(row.allowed.begin(), row.allowed.end(), text) == row.allowed.end())
        return refusal{"is not allowed", allowed_values(row)};

    switch (row.type) {
    case option_type::string:
    case option_type::secret:
    case option_type::enumeration:
        return checked(row, text, text);
    case option_type::boolean:
        if (text != "true" && text != "false")
            return refusal{"is not a boolean", allowed_values(row)};
        return checked(row, text == "true", text);
    case option_type::integer:
    case option_type::duration_ms:
    case option_type::bytes:
        return number(row, text);
    case option_type::path: {
        const std::string path = (folder / text).lexically_normal().string();
        return checked(row, path, path);
    }
    case option_type::list:
        break;
    }
    return refusal{"is not allowed", allowed_values(row)};
}

} // namespace cdc::config
