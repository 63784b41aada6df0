// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/source_check.hpp"

namespace cdc::app {

/// The items of a connector of `source: mongodb`, in this order and only as far as what they need
/// is there: connect, server, stream, oplog, identity, position.SINK.
boost::asio::awaitable<void> check_mongodb(config::values values, source_environment environment,
                                           source_check check);

} // namespace cdc::app
