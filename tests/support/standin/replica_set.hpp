// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/replica_set_options.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace cdc::test::standin {

/// A stand-in for a MongoDB replica set of one member (or a standalone), in this process: it
/// answers drivers on 127.0.0.1 as the real server's recordings show, and refuses what it does not
/// know with the server's code. Not a database: everything is in memory, there are no secondary
/// indexes and no transactions, and commands run one after another on one thread.
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

    std::uint16_t port() const noexcept;
    std::string host_port() const; ///< "127.0.0.1:port"
    /// "mongodb://127.0.0.1:port/?replicaSet=rs0", without credentials and TLS options.
    std::string uri() const;

    /// Executes one command as an in-process caller with all rights and returns the reply, errors
    /// included (`ok` 0). A getMore waits as it does for a client.
    bson::document run(const std::string& db, bson::view command);
    /// The same from canonical or relaxed extended JSON. Throws std::invalid_argument for bad JSON.
    bson::document run_json(const std::string& db, const std::string& command);
    /// Runs an insert; throws std::runtime_error when the server would refuse it.
    void insert(const std::string& db, const std::string& collection, bson::view doc);

    /// The time of the last entry of the history.
    bson::timestamp last_time() const;
    /// Moves the cluster's clock ahead by this much, for all later writes.
    void advance_clock(std::uint32_t seconds);
    /// Appends a noop to the history, as an idle server does every ten seconds.
    void append_noop();
    /// What hello names from now on ("127.0.0.1:port" of a gate in front), and tells waiting
    /// clients.
    void advertise(const std::string& host_port);

    /// Resets all connections now.
    void drop_connections();
    std::size_t open_connections() const noexcept;
    std::size_t accepted_connections() const noexcept;
    std::size_t open_cursors() const;

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::test::standin
