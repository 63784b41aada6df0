// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/value.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdc::test::standin {

/// A compiled aggregation expression over one document: paths through documents, `$$REMOVE`,
/// constants, $literal, $bsonSize, $max, $gt and $cond. Others are refused with 168.
class expression {
  public:
    /// Throws server_error.
    static expression compile(const bson::cursor& written);

    /// A value, or nothing when it is missing. Views the document or owns what was calculated.
    class result {
      public:
        result() = default;
        explicit result(const bson::cursor& borrowed)
            : at_(borrowed) {}
        static result of(bson::document one);

        explicit operator bool() const noexcept { return at_.has_value(); }
        const bson::cursor& cursor() const { return *at_; }

      private:
        std::shared_ptr<const bson::document> owned_;
        std::optional<bson::cursor> at_;
    };
    result evaluate(bson::view doc) const;

  private:
    enum class kind { path, remove, constant, bson_size, max, gt, cond };
    static expression compile_operator(const bson::cursor& written);
    result size_of(bson::view doc) const;
    result largest(bson::view doc) const;

    kind what_ = kind::remove;
    std::vector<std::string> path_;
    std::optional<element> constant_;
    std::vector<expression> operands_;
};

/// The stage $addFields ($set): new values for top fields, or none of them any more.
class added_fields {
  public:
    added_fields() = default;
    /// Throws server_error.
    explicit added_fields(bson::view spec);

    /// Known fields stay where they are, new ones come at the end.
    bson::document apply(bson::view doc) const;

  private:
    std::vector<std::pair<std::string, expression>> fields_;
};

} // namespace cdc::test::standin
