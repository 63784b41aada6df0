// SPDX-License-Identifier: Apache-2.0
#include "core/log/levels.hpp"

#include <algorithm>

namespace cdc::log {

namespace {

std::optional<level> level_of(std::string_view text) {
    constexpr std::pair<std::string_view, level> names[] = {{"trace", level::trace},
                                                            {"debug", level::debug},
                                                            {"info", level::info},
                                                            {"warn", level::warn},
                                                            {"error", level::error}};
    for (const auto& [name, lv] : names) {
        if (name == text)
            return lv;
    }
    return std::nullopt;
}

} // namespace

std::optional<levels> levels::parse(std::string_view text) {
    levels out;
    while (true) {
        const auto comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        const auto equals = part.find('=');
        const auto lv = level_of(equals == std::string_view::npos ? part : part.substr(equals + 1));
        if (!lv || equals == 0)
            return std::nullopt;
        if (equals == std::string_view::npos)
            out.general_ = *lv;
        else
            out.rules_.emplace_back(part.substr(0, equals), *lv);
        if (comma == std::string_view::npos)
            break;
        text.remove_prefix(comma + 1);
    }
    std::stable_sort(out.rules_.begin(), out.rules_.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    return out;
}

level levels::of(std::string_view component) const noexcept {
    for (const auto& [name, lv] : rules_) {
        if (component == name || (component.starts_with(name) &&
                                  (component[name.size()] == '.' || component[name.size()] == '/')))
            return lv;
    }
    return general_;
}

} // namespace cdc::log
