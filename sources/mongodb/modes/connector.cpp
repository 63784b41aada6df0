// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/modes/connector.hpp"

#include "sources/mongodb/cursor/client_command_runner.hpp"

#include <algorithm>
#include <limits>
#include <random>

namespace cdc::mongodb::modes {

namespace {

client::client_options client_options_of(const connector_options& o) {
    client::client_options out;
    out.uri = o.connection_string;
    out.user = o.user;
    out.password = o.password;
    if (!o.auth_source.empty())
        out.auth_source = o.auth_source;
    out.connect_timeout = o.connect_timeout;
    out.server_selection_timeout = o.server_selection_timeout;
    out.socket_timeout = o.socket_timeout;
    return out;
}

streaming::stream_settings settings_of(const connector_options& o) {
    streaming::stream_settings out;
    out.target.scope = o.capture_scope;
    out.target.db = o.target_db;
    out.target.collection = o.target_collection;
    out.target.update_lookup = o.capture_mode == capture_mode::change_streams_update_full;
    out.batch_size = static_cast<std::int32_t>(
        std::min<std::size_t>(o.max_batch_size, std::numeric_limits<std::int32_t>::max()));
    out.max_await = o.max_await_time;
    out.seed = std::random_device{}();
    return out;
}

} // namespace

error::result<std::unique_ptr<streaming::stream_source>>
make_connector_source(const connector_options& options, boost::asio::any_io_executor reactor,
                      runtime::blocking_pool& blocking, log::logger logger) {
    auto compiled = filters::compile({options.database_include, options.database_exclude,
                                      options.collection_include, options.collection_exclude});
    if (!compiled)
        return std::move(compiled).error();
    auto runner = std::make_unique<cursor::client_command_runner>(
        reactor, blocking, client_options_of(options), logger);
    return std::make_unique<streaming::stream_source>(std::move(reactor), std::move(runner),
                                                      settings_of(options), std::move(*compiled),
                                                      std::move(logger));
}

} // namespace cdc::mongodb::modes
