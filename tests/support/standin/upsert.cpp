// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/upsert.hpp"

namespace cdc::test::standin {

bson::document upsert(storage& data, const std::string& db, const std::string& coll,
                      const matcher& query, const update& u) {
    bson::document made = with_id_first(u.apply_to_nothing(query));
    data.insert(data.require(db, coll), made);
    return made;
}

} // namespace cdc::test::standin
