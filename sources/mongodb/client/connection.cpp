// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/connection.hpp"

#include "sources/mongodb/client/plain_connection.hpp"
#include "sources/mongodb/client/tls_connection.hpp"

namespace cdc::mongodb::client {

std::shared_ptr<connection> connection::make(boost::asio::any_io_executor reactor, target to,
                                             std::function<void()> changed) {
    return to.tls ? make_tls_connection(std::move(reactor), std::move(to), std::move(changed))
                  : make_plain_connection(std::move(reactor), std::move(to), std::move(changed));
}

} // namespace cdc::mongodb::client
