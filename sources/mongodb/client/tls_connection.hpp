// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sources/mongodb/client/connection.hpp"

#include <functional>
#include <memory>

namespace cdc::mongodb::client {

/// TLS, with the context of its target.
std::shared_ptr<connection> make_tls_connection(boost::asio::any_io_executor reactor,
                                                connection::target to,
                                                std::function<void()> changed);

} // namespace cdc::mongodb::client
