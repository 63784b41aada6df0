// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/mongodb/pattern.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::mongodb::cursor {

/// What can be asked of a change document's `ns.db` and `ns.coll` in place of an item over
/// `db.coll`: a change document has no field with the joined name, and joining it on the server
/// would need stages that change the documents.
///
/// Both are regexes that hold their own anchors and are to be matched ignoring case; both must
/// match; an absent one allows everything.
struct namespace_condition {
    std::optional<std::string> db;
    std::optional<std::string> collection;
    /// True when whatever meets the condition is matched by the item too.
    bool implies_item = false;

    bool everything() const noexcept { return !db && !collection; }
};

/// Conditions of which at least one holds for every namespace that `item` matches. For literals,
/// and for regexes whose first dot is escaped behind something that cannot match a dot
/// (`inventory\..*`, `(a|b)\.[a-z]+`), the conditions are exact; a dot that is not escaped
/// (`inventory.cust.*`) adds one for the databases where it stands for another character. Others
/// are rougher, down to "everything" for regexes that are not understood here (flags,
/// look-arounds, back references and the like).
std::vector<namespace_condition> conditions_of(const pattern& item);

/// `item` over a database name as one anchored regex for the server, or nothing when it is one
/// that cannot be wrapped without a change of meaning.
std::optional<std::string> database_regex(const pattern& item);

} // namespace cdc::mongodb::cursor
