// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/expression.hpp"
#include "tests/support/standin/matcher.hpp"
#include "tests/support/standin/projection.hpp"
#include "tests/support/standin/sort_order.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace cdc::test::standin {

/// The stages of an aggregate: $match, $project and $addFields everywhere, in a change stream of
/// MongoDB 6.0.9 and later $changeStreamSplitLargeEvent as the last one, and over a collection also
/// $sort, $skip, $limit, $count and the $group that drivers count with ({_id: constant, n: {$sum:
/// 1}}).
class pipeline {
  public:
    /// Stages from `first` on. In a change stream the stages that the server does not permit there
    /// are refused as it does. Throws server_error.
    /// `version` is the server played.
    static pipeline compile(bson::view stages, std::size_t first, bool change_stream,
                            std::array<int, 3> version);

    /// One event through a change stream's stages: the event as it comes out, or nothing.
    std::optional<bson::document> pass(bson::view event) const;
    /// Whether it ends with $changeStreamSplitLargeEvent, which is left to the stream itself.
    bool splits_large_events() const noexcept { return splits_; }
    /// Whether a stage looks at this top field.
    bool mentions(std::string_view field) const;

    std::vector<bson::document> run(std::vector<bson::document> docs) const;

  private:
    enum class kind { match, project, add_fields, sort, skip, limit, count, group };
    struct stage {
        kind what;
        std::optional<matcher> match;
        standin::projection fields;
        added_fields added;
        sort_order order;
        std::int64_t number = 0;
        std::string name;                   ///< of the count, of the group's sum
        std::optional<element> group_value; ///< the group's constant `_id`
    };
    std::vector<stage> stages_;
    bool splits_ = false;
};

} // namespace cdc::test::standin
