// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/update.hpp"

#include <string>
#include <utility>
#include <vector>

namespace cdc::test::standin {

/// What a run of modifications did, as a $v:1 oplog entry tells it.
struct modification_log {
    std::vector<std::pair<std::string, value>> set; ///< dotted path and new value
    std::vector<std::string> unset;
};

/// The value at `path`, made (as null) with all documents on the way where there is none. Throws
/// server_error 28 where something that holds no fields is in the way.
value& create_path(value& doc, const std::vector<std::string>& path);

/// Throws server_error when a $push's clauses cannot be read.
void check_push(const value& operand);

/// Applies one modification; a modification without effect logs nothing. Throws server_error.
void modify(value& doc, const update::modification& m, bool inserting, modification_log& log);

} // namespace cdc::test::standin
