// SPDX-License-Identifier: Apache-2.0
#include "core/config/report.hpp"

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

} // namespace cdc::config
