// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/wake_slot.hpp"
#include "tests/support/standin/cursor.hpp"
#include "tests/support/standin/recorded_history.hpp"
#include "tests/support/standin/replica_set_options.hpp"
#include "tests/support/standin/storage.hpp"
#include "tests/support/standin/users.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace cdc::test::standin {

/// Everything the server is, on its one reactor.
struct server_state {
    explicit server_state(const replica_set_options& options);

    std::string set_name; ///< empty: a standalone
    std::array<int, 3> version;
    std::string version_text;
    std::string host; ///< what hello names, "127.0.0.1:port"

    storage data;
    cursor_table cursors;
    user_table users;
    std::optional<recorded_history> recorded;

    struct remembered {
        std::int64_t number = 0;
        bson::document reply;
    };
    /// The last retryable write of each session, by the session's id bytes.
    std::map<std::string, remembered> retryable_writes;

    std::array<std::uint8_t, 12> process_id;
    std::array<std::uint8_t, 12> election_id;
    std::int64_t topology_counter = 6;
    std::int32_t next_connection = 1;

    /// Commands that wait for a change (getMore) or a new topology (hello).
    std::set<runtime::wake_slot*> waiting;
    void wake_all();

    bool standalone() const noexcept { return set_name.empty(); }
    int major() const noexcept { return version[0]; }
    /// From this version on the newer event format and hello.
    bool modern_events() const noexcept { return major() >= 6; }
    bool has_hello() const noexcept { return major() >= 5; }
    std::int32_t max_wire_version() const noexcept;
};

/// One client connection, or one in-process caller.
struct connection_info {
    connection_info(boost::asio::any_io_executor reactor, std::int32_t number)
        : id(number)
        , wake(std::move(reactor)) {}

    std::int32_t id;
    bool trusted = false; ///< in-process: everything allowed
    std::string user;     ///< empty: not authenticated
    std::optional<scram_conversation> scram;
    bool closed = false;
    runtime::wake_slot wake;
};

} // namespace cdc::test::standin
