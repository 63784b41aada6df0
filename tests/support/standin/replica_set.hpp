// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/command_fault.hpp"
#include "tests/support/standin/replica_set_options.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cdc::test::standin {

/// How a member goes: at once, as at SIGKILL (connections reset); or as at SIGTERM: another is
/// elected, waiting getMores end with 11600, the connections close.
enum class ending { killed, shut_down };

/// What one member has answered to clients (not to callers in this process), and what is open.
struct member_counts {
    struct served {
        std::size_t as_primary = 0;
        std::size_t as_secondary = 0;
    };
    std::map<std::string, served> commands; ///< by name, from the start on, over restarts
    std::size_t open_cursors = 0;
    std::size_t open_connections = 0;
    std::size_t accepted_connections = 0;
};

/// A stand-in for a MongoDB replica set of one or more members (or a standalone), in this process:
/// it answers drivers on 127.0.0.1 as the real server's recordings show, and refuses what it does
/// not know with the server's code. Not a database: everything is in memory, there are no secondary
/// indexes and no transactions, and commands run one after another on one thread. The members share
/// one history, so replication takes no time; roles, ports, connections, cursors and fail points
/// are each member's own. They are numbered from 0, and member 0 is the first primary.
///
/// All functions are thread-safe and may block until the stand-in's own thread has done the work;
/// never call them from that thread.
class replica_set {
  public:
    /// Listens at once. Throws when an option is wrong or the port is taken.
    explicit replica_set(replica_set_options options = {});
    /// Closes all connections; waiting commands end.
    ~replica_set();
    replica_set(const replica_set&) = delete;
    replica_set& operator=(const replica_set&) = delete;

    std::size_t members() const noexcept;
    std::uint16_t port(std::size_t member = 0) const;
    std::string host_port(std::size_t member = 0) const; ///< "127.0.0.1:port"
    /// "mongodb://127.0.0.1:port/?replicaSet=rs0", all members, without credentials and TLS
    /// options.
    std::string uri() const;

    /// Executes one command as an in-process caller with all rights and returns the reply, errors
    /// included (`ok` 0). A getMore waits as it does for a client. On the primary; without one on
    /// member 0, up or not. Faults do not meet it.
    bson::document run(const std::string& db, bson::view command);
    /// The same from canonical or relaxed extended JSON. Throws std::invalid_argument for bad JSON.
    bson::document run_json(const std::string& db, const std::string& command);
    /// The same on this member.
    bson::document run_on(std::size_t member, const std::string& db, bson::view command);
    bson::document run_json_on(std::size_t member, const std::string& db,
                               const std::string& command);
    /// As a client that has authenticated as this user of admin; on the primary. Counted, and
    /// faults meet it.
    bson::document run_as(const std::string& user, const std::string& db, bson::view command);
    /// Runs an insert; throws std::runtime_error when the server would refuse it.
    void insert(const std::string& db, const std::string& collection, bson::view doc);

    /// The time of the last entry of the history.
    bson::timestamp last_time() const;
    /// Moves the cluster's clock ahead by this much, for all later writes.
    void advance_clock(std::uint32_t seconds);
    /// Appends a noop to the history, as an idle server does every ten seconds.
    void append_noop();
    /// Appends a change event of any kind: `change` is its document without `_id`, `clusterTime`
    /// and `wallTime`, such as one that only newer servers have. Streams of its namespace show it.
    void append_change(const std::string& db, const std::string& collection, bson::view change);
    /// What hello names from now on as this member ("127.0.0.1:port" of a gate in front), and tells
    /// waiting clients.
    void advertise(const std::string& host_port, std::size_t member = 0);

    // Elections.

    std::optional<std::size_t> primary() const;
    /// The primary steps down and is not elected again for so long; another is elected at once, or
    /// after options.election_delay. Throws std::logic_error without a primary.
    void step_down(std::chrono::seconds period = std::chrono::seconds(60));
    /// Makes this member, which must be up, the primary; the one that is steps down.
    void elect(std::size_t member);
    /// While held, nobody is elected but by `elect`.
    void hold_elections(bool held);
    /// Returns when the member is down. A primary without a majority of the set steps down.
    void stop_member(std::size_t member = 0, ending how = ending::killed);
    /// It comes back on the same port with the data; its cursors and fail points are gone.
    void start_member(std::size_t member = 0);

    // Faults.

    /// From now on, replacing any earlier fault; on all members or on one. Only clients meet it.
    void fail_commands(const command_fault& fault, std::optional<std::size_t> member = {});
    void end_faults();
    /// How many commands the faults of all members have met.
    std::size_t faults_met() const;
    /// Drops the old end of the history: all but the newest entries (one always stays), or the
    /// entries before a time. Streams whose next entry is gone then get 136.
    void keep_last(std::size_t entries);
    void drop_oplog_before(bson::timestamp ts);
    bson::timestamp oldest_time() const;
    /// Kills all cursors of all members; tells how many. Waiting getMores end with 237.
    std::size_t kill_cursors();
    bool kill_cursor(std::int64_t id);
    /// Resets all connections now.
    void drop_connections();

    // Counts, over all members or of one.

    std::size_t open_connections() const noexcept;
    std::size_t accepted_connections() const noexcept;
    std::size_t open_cursors() const;
    member_counts counts(std::size_t member = 0) const;

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::test::standin
