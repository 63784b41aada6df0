// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/server_state.hpp"

#include <bson/bson.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace cdc::test::standin {

namespace {

std::array<int, 3> parse_version(const std::string& text) {
    std::array<int, 3> out{};
    char rest = 0;
    if (std::sscanf(text.c_str(), "%d.%d.%d%c", &out[0], &out[1], &out[2], &rest) != 3 ||
        out[0] < 4 || (out[0] == 4 && out[1] < 4))
        throw std::invalid_argument(
            "the stand-in plays versions from 4.4.0 on, written as 4.4.0, not " + text);
    return out;
}

} // namespace

server_state::server_state(const replica_set_options& options)
    : set_name(options.standalone ? "" : options.set_name)
    , version(parse_version(options.version))
    , version_text(options.version)
    , data(options.oplog_limit)
    , users(options.users) {
    if (!options.standalone && options.set_name.empty())
        throw std::invalid_argument("a replica set needs a name");
    for (const auto& file : options.recordings) {
        if (!recorded)
            recorded.emplace();
        recorded->load(file);
    }
    bson_oid_t fresh;
    bson_oid_init(&fresh, nullptr);
    std::copy(std::begin(fresh.bytes), std::end(fresh.bytes), process_id.begin());
    election_id = {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1};
}

void server_state::wake_all() {
    for (runtime::wake_slot* slot : waiting)
        slot->notify();
}

std::int32_t server_state::max_wire_version() const noexcept {
    constexpr std::int32_t of_4_4 = 9;
    constexpr std::int32_t of_5_0 = 13;
    // 5.0 is 13, 6.0 is 17, 7.0 is 21, 8.0 is 25.
    return major() < 5 ? of_4_4 : of_5_0 + (major() - 5) * 4;
}

} // namespace cdc::test::standin
