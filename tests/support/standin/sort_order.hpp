// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"

#include <string>
#include <vector>

namespace cdc::test::standin {

/// A compiled sort: `{a: 1, "b.c": -1}`. Missing fields sort as null, arrays by their smallest
/// (ascending) or largest (descending) element.
class sort_order {
  public:
    sort_order() = default;
    /// Throws server_error for directions other than 1 and -1.
    explicit sort_order(bson::view spec);

    bool empty() const noexcept { return keys_.empty(); }
    /// `{$natural: ±1}`: 1, -1, or 0 for another sort.
    int natural() const noexcept { return natural_; }
    bool before(bson::view a, bson::view b) const;

  private:
    struct key {
        std::vector<std::string> path;
        int direction;
    };
    std::vector<key> keys_;
    int natural_ = 0;
};

} // namespace cdc::test::standin
