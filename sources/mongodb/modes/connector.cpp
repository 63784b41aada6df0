// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/modes/connector.hpp"

#include "sources/mongodb/cursor/client_command_runner.hpp"

#include <algorithm>
#include <limits>
#include <random>

namespace cdc::mongodb::modes {

client::client_options make_client_options(const connector_options& o) {
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

cursor::stream_target make_stream_target(const connector_options& o) {
    cursor::stream_target out;
    out.scope = o.capture_scope;
    out.db = o.target_db;
    out.collection = o.target_collection;
    out.update_lookup = o.capture_mode == capture_mode::change_streams_update_full;
    return out;
}

error::result<filters> make_filters(const connector_options& o) {
    return filters::compile(
        {o.database_include, o.database_exclude, o.collection_include, o.collection_exclude});
}

namespace {

streaming::stream_settings settings_of(const connector_options& o) {
    streaming::stream_settings out;
    out.target = make_stream_target(o);
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
    auto compiled = make_filters(options);
    if (!compiled)
        return std::move(compiled).error();
    auto runner = std::make_unique<cursor::client_command_runner>(
        reactor, blocking, make_client_options(options), logger);
    return std::make_unique<streaming::stream_source>(std::move(reactor), std::move(runner),
                                                      settings_of(options), std::move(*compiled),
                                                      std::move(logger));
}

} // namespace cdc::mongodb::modes
