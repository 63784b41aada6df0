// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/appender.hpp"
#include "core/bson/view.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::event {

/// One rule of field.renames for a collection. See field_rules for what its path reaches.
class renamed_field {
  public:
    /// `path` has at least one part; `rule` is the item as written, for errors.
    renamed_field(std::vector<std::string> path, std::string new_name, std::string rule);

    enum class result {
        done,
        malformed, ///< or nested deeper than any server allows
        taken,     ///< the new name is there already
    };
    /// Appends `document` to `out`, the field under its new name at the end of its document. Unless
    /// `done`, `out` ends somewhere inside.
    result copy_document(bson::view document, std::vector<std::uint8_t>& out) const;
    /// The same of `updatedFields`, whose names are dotted paths.
    result copy_updated_fields(bson::view updated, std::vector<std::uint8_t>& out) const;

    /// The dotted path with its part renamed when it names the field or something below it.
    std::optional<std::string> renamed(std::string_view path) const;

    const std::string& rule() const noexcept { return rule_; }

  private:
    struct match {
        std::size_t parts = 0; ///< parts of the rule that the path has
        std::size_t begin = 0; ///< where in the text the last of them stands
        std::size_t end = 0;
    };
    std::optional<match> follow(std::string_view path) const noexcept;
    std::string with_new_name(std::string_view path, const match& m) const;

    result copy_element(const bson::cursor& element, std::string_view name, std::size_t at,
                        bson::appender& to, unsigned depth) const;
    result copy_elements(bson::view from, bool is_array, std::size_t at, bson::appender& to,
                         unsigned depth) const;

    std::vector<std::string> path_;
    std::string new_name_;
    std::string rule_;
};

} // namespace cdc::event
