// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "sinks/sink.hpp"
#include "sinks/webhook/options.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace cdc::webhook {

/// Whether a webhook sink with these options reaches its receiver: a connection, with https also
/// the handshake; nothing is sent. Ends by itself within connect.timeout.ms for the lookup and for
/// each address. Gives what was found, for people. Errors: configuration (tls.ca.file), network,
/// timeout.
boost::asio::awaitable<error::result<std::string>> check_webhook(cdc::sink::context context,
                                                                 webhook_options options);

} // namespace cdc::webhook
