// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/storage.hpp"

#include <string>

namespace cdc::test::standin {

/// Inserts what an upsert that found nothing inserts, and returns it as stored. Throws
/// server_error.
bson::document upsert(storage& data, const std::string& db, const std::string& coll,
                      const matcher& query, const update& u);

} // namespace cdc::test::standin
