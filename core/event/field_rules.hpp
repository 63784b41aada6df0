// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/change_event.hpp"
#include "core/event/excluded_fields.hpp"
#include "core/event/renamed_field.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::event {

/// Debezium's field.exclude.list and field.renames: items `db.collection.field[.nested…]`, of
/// renames with `:new_name`, which replaces the path's last part. In database and collection `*`
/// stands for any characters, dots too; their case is ignored. The field path is literal.
///
/// They apply to `before`, `after`, `updatedFields`, `removedFields` and `truncatedArrays`, never
/// to the key. A path leads into documents, and through arrays into the documents inside them. Two
/// deliberate differences, so that no byte of an excluded field gets out: arrays inside arrays are
/// looked through as well, and so are any number of array indices in an updated path; and a removed
/// or truncated path below an excluded field goes too.
///
/// Renaming moves a field to the end of its document, as Debezium does. A field that is not there
/// changes nothing; a new name that is there already is an error.
class field_rules {
  public:
    /// Errors: configuration, naming the option and the item.
    static error::result<field_rules> compile(const std::vector<std::string>& excluded,
                                              const std::vector<std::string>& renamed);

    /// What is wrong with an item of one of the two lists, as the rest of a sentence about it
    /// ("has an empty part"); empty when nothing is.
    static std::string problem_of(std::string_view item, bool rename);

    /// What concerns one collection. Immutable.
    class collection_rules {
      public:
        /// Memory that is used again from event to event.
        struct buffers {
            std::vector<std::uint8_t> result;
            std::array<std::vector<std::uint8_t>, 2>
                between; ///< of several rules one after another
        };
        /// `e` with the rules applied. Its views then point into `to`, which is overwritten, and
        /// into what they pointed to before. Errors: bad_data for malformed BSON (naming the part)
        /// and for a new name that is taken (naming the rule).
        error::result<change_event> apply(const change_event& e, buffers& to) const;

      private:
        friend class field_rules;
        enum class kind { document, updated };
        error::result<void> copy(bson::view from, kind what, std::string_view part,
                                 buffers& to) const;
        error::result<void> copy_removed(bson::view names, buffers& to) const;
        error::result<void> copy_truncated(bson::view arrays, buffers& to) const;
        /// Nothing when it is excluded.
        std::optional<std::string> path_of(std::string_view path) const;

        excluded_fields excluded_;
        std::vector<renamed_field> renamed_;
    };

    bool empty() const noexcept { return excluded_.empty() && renamed_.empty(); }
    /// Null when no rule concerns the collection.
    std::unique_ptr<const collection_rules> of(std::string_view db,
                                               std::string_view collection) const;

  private:
    struct item {
        std::string db;
        std::string collection;
        std::vector<std::string> path;
        std::string new_name; ///< of a rename
        std::string text;     ///< as written, for errors
    };
    /// Gives what is wrong, as problem_of does.
    static std::string parse(std::string_view text, bool rename, item& out);

    std::vector<item> excluded_;
    std::vector<item> renamed_;
};

} // namespace cdc::event
