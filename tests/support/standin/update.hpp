// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/matcher.hpp"
#include "tests/support/standin/value.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cdc::test::standin {

/// A compiled update: a replacement, or the operators $set $unset $inc $mul $min $max $rename
/// $setOnInsert $push ($each, $position, $slice, $sort) $addToSet $pull $pop. Applied, and logged,
/// in the order of the paths, as the 4.4 server does it; what it logs is what a change event shows.
/// Updates by pipeline, positional operators and array filters are refused.
class update {
  public:
    /// Throws server_error. `u` is the `u` of a statement or `update` of a findAndModify.
    static update compile(const bson::cursor& u);

    bool is_replacement() const noexcept { return replacement_.has_value(); }

    struct outcome {
        bson::document after;
        bool changed = false;
        bson::document updated_fields; ///< empty for a replacement
        bson::document removed_fields; ///< an array's document
    };

    /// Throws server_error (28, 40, 66, 14, 2 ...).
    outcome apply(bson::view before) const;
    /// The document that an upsert inserts: the query's equalities, then this. It has an `_id` only
    /// if the query or the update gives one.
    bson::document apply_to_nothing(const matcher& query) const;

    enum class op {
        set,
        unset,
        inc,
        mul,
        min,
        max,
        rename,
        set_on_insert,
        push,
        add_to_set,
        pull,
        pop
    };

    struct modification {
        op what;
        std::vector<std::string> path;
        std::string path_text;
        value operand;
        std::vector<std::string> target;  ///< of a rename
        std::optional<matcher> condition; ///< of a pull
    };

  private:
    update() = default;
    void run(value& doc, bool inserting, outcome& out) const;

    std::optional<bson::document> replacement_;
    std::vector<modification> modifications_;
};

} // namespace cdc::test::standin
