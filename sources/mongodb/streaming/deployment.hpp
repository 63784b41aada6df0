// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace cdc::mongodb::streaming {

/// Whether change streams of `server`'s deployment can be read: a member of a replica set.
/// Errors: unsupported, naming the host and what it is.
error::result<void> check_deployment(const client::server_description& server);

/// "4.4.0"; "unknown" when the connected server does not tell. Errors: those of a command but for
/// the server's own refusals.
boost::asio::awaitable<error::result<std::string>> server_version(cursor::command_runner& runner);

} // namespace cdc::mongodb::streaming
