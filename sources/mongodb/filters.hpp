// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "sources/mongodb/pattern.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cdc::mongodb {

/// The four lists as configured, one item an element. Blanks around an item are ignored, empty
/// items too.
struct filter_lists {
    std::vector<std::string> database_include;
    std::vector<std::string> database_exclude;
    std::vector<std::string> collection_include;
    std::vector<std::string> collection_exclude;
};

/// Which namespaces are captured. Rules (Debezium's, but for literals, see `pattern`): database
/// items are matched against the database name, collection items against `db.coll`; an include list
/// that has items must match, an exclude list must not; both kinds of lists must agree. The
/// databases local, admin and config and the collections `system.*` are never captured, whatever
/// the lists say.
///
/// The answer for a namespace is remembered (up to `cache_capacity` of them), so the path of an
/// event costs one hash lookup. Used from one reactor.
class filters {
  public:
    static constexpr std::size_t cache_capacity = 20000;

    /// Errors: configuration, naming option and item; also when include and exclude list of the
    /// same kind both have items.
    static error::result<filters> compile(const filter_lists& lists);

    /// Errors: configuration, naming option and item, when a pattern cannot be matched within its
    /// limits.
    error::result<bool> wants(std::string_view db, std::string_view collection);

    /// What the database lists alone say; false for the server's own databases. Errors: as `wants`.
    error::result<bool> wants_database(std::string_view db) const;

    /// The compiled items in their order, for whoever writes them down for the server.
    const std::vector<pattern>& database_include() const noexcept { return database_include_; }
    const std::vector<pattern>& database_exclude() const noexcept { return database_exclude_; }
    const std::vector<pattern>& collection_include() const noexcept { return collection_include_; }
    const std::vector<pattern>& collection_exclude() const noexcept { return collection_exclude_; }

    /// True for what is never captured.
    static bool is_internal(std::string_view db, std::string_view collection) noexcept;

  private:
    error::result<bool> decide(std::string_view db, std::string_view name_space) const;

    std::vector<pattern> database_include_;
    std::vector<pattern> database_exclude_;
    std::vector<pattern> collection_include_;
    std::vector<pattern> collection_exclude_;

    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const noexcept {
            return std::hash<std::string_view>{}(s);
        }
    };
    std::unordered_map<std::string, bool, text_hash, std::equal_to<>> cache_;
    std::string key_; ///< reused: "db.coll" of the namespace asked for
};

} // namespace cdc::mongodb
