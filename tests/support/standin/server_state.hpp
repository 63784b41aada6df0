// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/wake_slot.hpp"
#include "tests/support/standin/membership.hpp"
#include "tests/support/standin/recorded_history.hpp"
#include "tests/support/standin/replica_set_options.hpp"
#include "tests/support/standin/storage.hpp"
#include "tests/support/standin/users.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace cdc::test::standin {

/// Everything the set is, on its one reactor: what its members share, and the members.
struct server_state {
    explicit server_state(const replica_set_options& options);

    std::string set_name; ///< empty: a standalone
    std::array<int, 3> version;
    std::string version_text;
    std::size_t scan_limit; ///< replica_set_options::scan_limit

    storage data;
    membership members;
    user_table users;
    std::optional<recorded_history> recorded;

    struct remembered {
        std::int64_t number = 0;
        bson::document reply;
    };
    /// The last retryable write of each session, by the session's id bytes.
    std::map<std::string, remembered> retryable_writes;

    /// Commands that wait for a change (getMore), a new topology (hello) or the end of a fault.
    std::set<runtime::wake_slot*> waiting;
    void wake_all();

    /// Runs `work` on the reactor after this time, unless the set has ended by then.
    std::function<void(std::chrono::milliseconds, std::function<void()> work)> after;
    std::chrono::milliseconds election_delay;
    bool elections_held = false; ///< nobody is elected but when told

    /// After roles or members have changed: a primary without a majority steps down, and a new one
    /// is elected, at once or after the delay. Wakes all.
    void settle();
    /// This member becomes primary now; the one that is steps down. It must be up.
    void elect(member_state& m);
    /// A member goes down: at once, its connections reset; or orderly, as at SIGTERM: another is
    /// elected, waiting commands end with 11600, then the connections close. `done` is called
    /// when it is down.
    void stop(member_state& m, bool orderly, const std::function<void()>& done);
    /// It comes back on its port, with the data.
    void start(member_state& m);
    /// A command of this member has ended.
    void ended_one(member_state& m);

    bool standalone() const noexcept { return set_name.empty(); }
    int major() const noexcept { return version[0]; }
    /// From this version on the newer event format and hello.
    bool modern_events() const noexcept { return major() >= 6; }
    bool has_hello() const noexcept { return major() >= 5; }
    std::int32_t max_wire_version() const noexcept;

  private:
    void go_down(member_state& m, bool reset);
    bool election_pending_ = false;
    bool election_due_ = false;
};

/// One client connection, or one in-process caller.
struct connection_info {
    connection_info(boost::asio::any_io_executor reactor, std::int32_t number)
        : id(number)
        , wake(std::move(reactor)) {}

    std::int32_t id;
    bool trusted = false; ///< in-process: everything allowed
    bool cut = false;     ///< the command is not answered, the connection closed
    std::string user;     ///< empty: not authenticated
    std::string app_name; ///< what the client called itself in its first hello
    std::optional<scram_conversation> scram;
    std::string scram_db; ///< that keeps the user of that conversation
    bool closed = false;
    runtime::wake_slot wake;
};

} // namespace cdc::test::standin
