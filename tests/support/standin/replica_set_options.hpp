// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/users.hpp"
#include "tests/support/wire/wire_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cdc::test::standin {

struct replica_set_options {
    std::string set_name = "rs0";
    /// The server played: 4.4.0 as recorded; from 5.0.0 on with hello, from 6.0.0 on with the newer
    /// event fields.
    std::string version = "4.4.0";
    std::uint16_t port =
        0; ///< 0: a free one for each member; else the members have port, port + 1…
    wire::tls_options tls;
    /// With users, clients must authenticate (SCRAM-SHA-256).
    std::vector<user> users;
    /// Members of the set, each with a port of its own; the first is primary. One to seven.
    std::size_t members = 1;
    /// How long a set is without a primary before it elects one.
    std::chrono::milliseconds election_delay{0};
    bool standalone = false; ///< no set: no change streams, no cluster time
    /// Entries the history keeps; 0: all.
    std::size_t oplog_limit = 0;
    /// Entries that one getMore of a change stream looks at before its maxTimeMS is over; 0: all.
    std::size_t scan_limit = 0;
    /// Insert events of change streams show a field `pad` of so many bytes that the document does
    /// not have.
    std::size_t event_padding = 0;
    /// Recordings whose change documents every change stream serves byte for byte.
    std::vector<std::filesystem::path> recordings;
    /// What hello names as the first member; empty: the port listened on. For gates in between.
    std::string advertised_host;
};

} // namespace cdc::test::standin
