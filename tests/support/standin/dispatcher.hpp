// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/server_state.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace cdc::test::standin {

/// Executes one command from check to finished reply. On the set's reactor; may suspend. `server`
/// and `connection` outlive it.
boost::asio::awaitable<bson::document> execute(server_state* server, connection_info* connection,
                                               std::string db, bson::document body);

} // namespace cdc::test::standin
