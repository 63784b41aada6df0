// SPDX-License-Identifier: Apache-2.0
#include "core/config/report.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cdc::config {

void report::add(mistake m) {
    if (full())
        ++more_;
    else
        mistakes_.push_back(std::move(m));
}

void report::warn(mistake m) {
    if (warnings_.size() < most)
        warnings_.push_back(std::move(m));
}

void report::sort() {
    const auto by_line = [](const mistake& a, const mistake& b) {
        constexpr auto last = std::numeric_limits<std::size_t>::max();
        return (a.line ? a.line : last) < (b.line ? b.line : last);
    };
    std::stable_sort(mistakes_.begin(), mistakes_.end(), by_line);
    std::stable_sort(warnings_.begin(), warnings_.end(), by_line);
}

} // namespace cdc::config
