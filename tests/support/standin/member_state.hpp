// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/cursor.hpp"
#include "tests/support/standin/fail_point.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cdc::test::wire {
class server;
}

namespace cdc::test::standin {

/// Commands of clients that a member answered, by its role when they came. In-process callers are
/// not counted.
struct served_commands {
    std::size_t as_primary = 0;
    std::size_t as_secondary = 0;
};

/// One member of the set: what each server process has of its own. The data is the set's, so
/// replication takes no time. On the set's reactor only.
struct member_state {
    std::size_t index = 0;
    std::string host;               ///< what hello names, "127.0.0.1:port"
    wire::server* server = nullptr; ///< what listens for it

    bool up = true;
    bool primary = false;
    bool shutting_down = false; ///< its commands end with 11600, then it goes down
    /// Until then it is not elected: it has stepped down.
    std::chrono::steady_clock::time_point not_elected_before{};

    std::array<std::uint8_t, 12> process_id{};
    std::int64_t topology_counter = 0;
    std::int32_t next_connection = 1;

    cursor_table cursors;
    fail_point faults;
    std::map<std::string, served_commands> served;
    std::size_t running = 0;                    ///< commands under way
    std::vector<std::function<void()>> on_down; ///< called once when it is down
};

} // namespace cdc::test::standin
