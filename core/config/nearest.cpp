// SPDX-License-Identifier: Apache-2.0
#include "core/config/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>

namespace cdc::config {

namespace {

std::string folded(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += (c == '_' || c == '-')
                   ? '.'
                   : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

/// Optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

} // namespace

std::string_view nearest(std::string_view given, const std::vector<std::string_view>& candidates) {
    constexpr std::size_t longest = 100;
    if (given.empty() || given.size() > longest)
        return {};
    const std::string wanted = folded(given);
    std::string_view best;
    std::size_t best_distance = longest;
    for (const auto candidate : candidates) {
        const std::size_t limit =
            std::max<std::size_t>(1, std::max(wanted.size(), candidate.size()) / 3);
        const std::size_t difference = candidate.size() > wanted.size()
                                           ? candidate.size() - wanted.size()
                                           : wanted.size() - candidate.size();
        if (difference >= best_distance || difference > limit)
            continue;
        const std::size_t d = distance(wanted, folded(candidate));
        if (d < best_distance && d <= limit) {
            best = candidate;
            best_distance = d;
        }
    }
    return best;
}

} // namespace cdc::config
