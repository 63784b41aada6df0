// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <string>
#include <vector>

namespace cdc::test::standin {

/// A compiled projection: fields kept or fields left out, dotted paths through documents and
/// arrays, `_id` on its own. Operators and computed fields are refused.
class projection {
  public:
    projection() = default;
    /// Throws server_error.
    explicit projection(bson::view spec);

    bool empty() const noexcept { return empty_; }
    bson::document apply(bson::view doc) const;

  private:
    bool empty_ = true;
    bool inclusive_ = false;
    bool with_id_ = true;
    std::vector<std::vector<std::string>> paths_;
};

} // namespace cdc::test::standin
