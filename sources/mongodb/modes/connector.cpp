// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/modes/connector.hpp"

#include "sources/mongodb/client/uri.hpp"
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
    out.stay_on_host = !o.members_auto_discover;
    return out;
}

cursor::stream_target make_stream_target(const connector_options& o) {
    cursor::stream_target out;
    out.scope = o.capture_scope;
    out.db = o.target_db;
    out.collection = o.target_collection;
    out.namespace_events = o.include_ddl_events;
    out.skip_threshold = o.oversize_threshold;
    out.update_lookup = o.capture_mode == capture_mode::change_streams_update_full;
    return out;
}

error::result<filters> make_filters(const connector_options& o) {
    return filters::compile(
        {o.database_include, o.database_exclude, o.collection_include, o.collection_exclude});
}

namespace {

constexpr std::chrono::milliseconds least_patience{2000};

streaming::start_point start_of(const connector_options& o) {
    using streaming::start_point;
    if (o.start_at_oldest)
        return start_point(start_point::oldest{});
    if (o.start_op_time != -1)
        return start_point(bson::timestamp{static_cast<std::uint32_t>(o.start_op_time >> 32),
                                           static_cast<std::uint32_t>(o.start_op_time)});
    if (auto token = event::position::from_token_text(o.start_token); token && !token->empty())
        return start_point(std::move(*token)); // the options were checked
    return {};
}

streaming::stream_settings settings_of(const connector_options& o) {
    streaming::stream_settings out;
    out.target = make_stream_target(o);
    out.batch_size = static_cast<std::int32_t>(
        std::min<std::size_t>(o.max_batch_size, std::numeric_limits<std::int32_t>::max()));
    out.max_await = o.max_await_time;
    out.oversize = o.oversize;
    out.unsplit_allowed = o.unsplit_allowed;
    out.seed = std::random_device{}();
    out.start = start_of(o);
    out.on_loss.go_on_from_now = o.on_lost_position == lost_position_mode::from_now;
    out.on_loss.read_again_from_time = o.on_token_not_found == missing_token_mode::from_time;
    out.headroom.warn_below = o.oplog_headroom_warn;
    return out;
}

/// Nothing for a connector that stays on one host whatever its role.
std::unique_ptr<streaming::primary_watch> make_watch(const connector_options& o,
                                                     boost::asio::any_io_executor reactor,
                                                     runtime::blocking_pool& blocking,
                                                     log::logger logger) {
    auto limits = make_client_options(o);
    if (client::stays_on_host(limits))
        return nullptr;
    streaming::primary_watch::settings s;
    s.interval = o.heartbeat_frequency;
    s.backoff.cap = std::max(s.backoff.first, o.heartbeat_frequency);
    s.seed = std::random_device{}();
    // An answer may take the interval; a member that does not come within that is asked anew.
    constexpr std::chrono::milliseconds most{std::numeric_limits<std::int32_t>::max()};
    limits.socket_timeout =
        std::min(o.heartbeat_frequency + std::max(o.connect_timeout, least_patience), most);
    auto runner = std::make_unique<cursor::client_command_runner>(reactor, blocking,
                                                                  std::move(limits), logger);
    return std::make_unique<streaming::primary_watch>(std::move(reactor), std::move(runner), s,
                                                      std::move(logger));
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
    auto watch = make_watch(options, reactor, blocking, logger);
    return std::make_unique<streaming::stream_source>(std::move(reactor), std::move(runner),
                                                      settings_of(options), std::move(*compiled),
                                                      std::move(logger), std::move(watch));
}

} // namespace cdc::mongodb::modes
