// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/value.hpp"

#include <functional>
#include <memory>
#include <string_view>

namespace cdc::test::standin {

/// A compiled query: equality, $eq $ne $gt $gte $lt $lte $in $nin $exists $regex $not $and $or $nor
/// $size $all and $elemMatch, on dotted paths, arrays element by element. Copies what it needs of
/// the filter.
class matcher {
  public:
    /// Throws server_error for what it does not know or cannot read.
    static matcher compile(bson::view filter);
    /// What matches one value alone, as $pull's condition: an operator document, a query on
    /// documents, or a plain value.
    static matcher compile_for_value(const bson::cursor& condition);

    bool matches(bson::view doc) const;
    /// For compile_for_value.
    bool matches_value(const bson::cursor& v) const;

    /// Whether a path of the filter begins with this field.
    bool mentions(std::string_view field) const;

    /// The value that `path` must equal, if the filter says so at its top (or in a top $and):
    /// makes lookups by `_id` quick and gives an upsert its first fields.
    std::optional<bson::cursor> equality(std::string_view path) const;
    void for_each_equality(
        const std::function<void(std::string_view path, const bson::cursor& v)>& use) const;

    struct node;

    matcher(matcher&&) noexcept;
    matcher& operator=(matcher&&) noexcept;
    ~matcher();

  private:
    matcher();
    std::unique_ptr<node> root_;
};

} // namespace cdc::test::standin
