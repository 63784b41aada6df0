// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/event/oplog_patch.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/standin/recording.hpp"

#include <algorithm>

using namespace cdc;
using test::standin::from_json;

namespace {

event::change_event::update_description description(const bson::document& updated,
                                                    const bson::document& removed,
                                                    const bson::document& truncated) {
    return {updated, removed, truncated.view()};
}

} // namespace

TEST_CASE("a shortened array in an oplog patch", "[event]") {
    const auto updated = from_json(R"({"a": 1})");
    const auto removed = from_json(R"({"0": "b", "1": "c.d"})");
    const auto truncated = from_json(R"({"0": {"field": "list", "newSize": 3}})");
    const auto patch = event::oplog_patch(description(updated, removed, truncated));
    REQUIRE(patch);
    const auto expected =
        from_json(R"({"$v": 1, "$set": {"a": 1}, "$unset": {"b": true, "c.d": true},
                                        "$push": {"list": {"$each": [], "$slice": 3}}})");
    CHECK(std::ranges::equal(patch->view().bytes(), expected.view().bytes()));
}

TEST_CASE("a malformed description makes no oplog patch", "[event]") {
    const bson::document none = bson::builder{}.finish();
    CHECK(!event::oplog_patch(description(none, from_json(R"({"0": 1})"), none)));
    CHECK(!event::oplog_patch(description(none, none, from_json(R"({"0": {"field": "x"}})"))));
    CHECK(!event::oplog_patch(description(none, none, from_json(R"({"0": 5})"))));
}
