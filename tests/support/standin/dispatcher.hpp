// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "tests/support/standin/server_state.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace cdc::test::standin {

/// Executes one command from check to finished reply, as the member `self`. On the set's reactor;
/// may suspend. `server`, `self` and `connection` outlive it. When `connection->cut` is set
/// afterwards, the reply is not to be sent and the connection ends.
boost::asio::awaitable<bson::document> execute(server_state* server, member_state* self,
                                               connection_info* connection, std::string db,
                                               bson::document body);

} // namespace cdc::test::standin
