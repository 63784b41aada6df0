// SPDX-License-Identifier: Apache-2.0
#include "core/config/option_table.hpp"

#include "core/config/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace cdc::config {

namespace {

bool is_below(std::string_view key, std::string_view name) {
    return key.size() > name.size() && key.starts_with(name) && key[name.size()] == '.';
}

/// What of a value may stand in a message.
std::string shown(const option& row, const raw_value& raw) {
    if (raw.kind != raw_value::kind_t::scalar && raw.kind != raw_value::kind_t::list)
        return {};
    if (is_secret(row))
        return "***";
    return printable(raw.written);
}

/// `substituted` values are shown as written, `${env:X}`, so the reader is told what happened.
std::string explained(const raw_value& raw, std::string problem) {
    return raw.substituted ? "(after substitution) " + problem : problem;
}

/// Says what there is to say about a row that cannot be used. False: the key may be ignored.
void answer_unsupported(const option& row, const std::string& key, const raw_value& raw,
                        const std::string& prefix, report& to) {
    mistake m;
    m.key = prefix + printable_key(key);
    m.line = raw.line;
    const std::string hint = row.instead.empty() ? "" : fmt::format(": {}", row.instead);
    switch (row.status) {
    case option_status::supported:
        return;
    case option_status::ignored:
        m.problem = "is ignored" + hint;
        to.warn(std::move(m));
        return;
    case option_status::renamed:
        m.problem = fmt::format("is an old name, use {}", row.instead);
        to.add(std::move(m));
        return;
    case option_status::removed:
        m.problem = "is an option of old versions that no longer exists" + hint;
        to.add(std::move(m));
        return;
    case option_status::not_supported_yet:
        if (raw.kind == raw_value::kind_t::scalar &&
            std::find(row.allowed.begin(), row.allowed.end(), raw.text) != row.allowed.end())
            return;
        m.problem = "is known, but not supported yet" + hint;
        if (!row.allowed.empty()) {
            m.problem += "; leave it out";
            m.allowed = allowed_values(row);
        }
        to.add(std::move(m));
        return;
    }
}

} // namespace

void option_check::mistake(std::string_view name, std::string problem, std::string allowed) {
    config::mistake m;
    m.key = prefix_ + std::string(name);
    m.problem = std::move(problem);
    m.allowed = std::move(allowed);
    for (const auto& [key, raw] : raw_) {
        if (key == name)
            m.line = raw.line;
    }
    to_.add(std::move(m));
}

option_table::option_table(std::string name, std::string title, std::vector<option> rows,
                           cross_check check)
    : name_(std::move(name))
    , title_(std::move(title))
    , rows_(std::move(rows))
    , check_(std::move(check)) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const option& row = rows_[i];
        for (std::size_t j = 0; j < i; ++j) {
            if (rows_[j].name == row.name)
                throw std::logic_error(fmt::format("option {} has two rows", row.name));
        }
        if (row.doc.empty() && row.instead.empty())
            throw std::logic_error(fmt::format("option {} has no description", row.name));
        if (row.status == option_status::renamed && row.instead.empty())
            throw std::logic_error(fmt::format("option {} has no new name", row.name));
        if (row.status == option_status::supported)
            default_of(row, "/");
    }
}

const option* option_table::find(std::string_view key) const noexcept {
    const option* by_prefix = nullptr;
    for (const auto& row : rows_) {
        if (row.name == key)
            return &row;
        if (row.prefix && is_below(key, row.name) &&
            (!by_prefix || by_prefix->name.size() < row.name.size()))
            by_prefix = &row;
    }
    return by_prefix;
}

std::string_view option_table::nearest_key(std::string_view key) const {
    std::vector<std::string_view> supported, others;
    for (const auto& row : rows_)
        (row.status == option_status::supported ? supported : others).push_back(row.name);
    if (const auto best = nearest(key, supported); !best.empty())
        return best;
    return nearest(key, others);
}

parsed_value option_table::default_of(const option& row,
                                      const std::filesystem::path& folder) const {
    if (row.fallback.empty() || row.status != option_status::supported)
        return {};
    raw_value raw;
    raw.kind = raw_value::kind_t::scalar;
    raw.text = row.fallback;
    auto parsed = parse_value(row, raw, folder);
    if (const auto* refused = std::get_if<refusal>(&parsed))
        throw std::logic_error(
            fmt::format("the default of option {} {}", row.name, refused->problem));
    return std::get<parsed_value>(std::move(parsed));
}

values option_table::read(const raw_values& given, const std::string& prefix,
                          const std::filesystem::path& folder, report& to) const {
    values out(*this, folder);
    std::vector<std::string_view> meant; // required keys that a mistaken key stands for

    for (const auto& [key, raw] : given) {
        const option* row = find(key);
        if (!row) {
            // The value is never shown: what follows a misspelt password key is a password.
            mistake m;
            m.key = prefix + printable_key(key);
            m.problem = key.find(':') == std::string::npos
                            ? "is not a known key"
                            : "is not a known key (is a blank missing after a colon?)";
            m.line = raw.line;
            if (!to.full()) {
                const auto near = nearest_key(key.substr(0, key.find(':')));
                m.nearest = near;
                meant.push_back(near);
            }
            to.add(std::move(m));
            continue;
        }
        if (row->status != option_status::supported) {
            if (row->status == option_status::renamed)
                meant.push_back(row->instead);
            answer_unsupported(*row, key, raw, prefix, to);
            continue;
        }
        auto& slot = out.entries_[static_cast<std::size_t>(row - rows_.data())];
        slot.given = true;
        if (raw.kind == raw_value::kind_t::broken) {
            slot.value = {};
            continue;
        }
        auto parsed = parse_value(*row, raw, folder);
        if (auto* value = std::get_if<parsed_value>(&parsed)) {
            slot.value = std::move(*value);
            continue;
        }
        slot.value = {};
        auto& refused = std::get<refusal>(parsed);
        mistake m;
        m.key = prefix + std::string(key);
        m.value = shown(*row, raw);
        m.problem = explained(raw, std::move(refused.problem));
        m.allowed = std::move(refused.allowed);
        m.line = raw.line;
        if (!raw.substituted && !row->allowed.empty())
            m.nearest = nearest(raw.text, row->allowed);
        to.add(std::move(m));
    }

    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const option& row = rows_[i];
        if (!row.required || out.entries_[i].given ||
            std::find(meant.begin(), meant.end(), row.name) != meant.end())
            continue;
        mistake m;
        m.key = prefix + std::string(row.name);
        m.problem = fmt::format("is missing ({})", row.doc);
        m.allowed = allowed_values(row);
        to.add(std::move(m));
    }

    if (check_) {
        option_check check(out, prefix, given, to);
        check_(check);
    }
    return out;
}

} // namespace cdc::config
