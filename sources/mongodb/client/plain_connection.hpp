// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/mongodb/client/connection.hpp"

#include <functional>
#include <memory>

namespace cdc::mongodb::client {

/// Plain TCP: bytes go from the socket straight into the reader's memory.
std::shared_ptr<connection> make_plain_connection(boost::asio::any_io_executor reactor,
                                                  connection::target to,
                                                  std::function<void()> changed);

} // namespace cdc::mongodb::client
