// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/modes/connector_check.hpp"

#include "sources/mongodb/cursor/change_cursor.hpp"
#include "sources/mongodb/cursor/client_command_runner.hpp"
#include "sources/mongodb/cursor/resume_policy.hpp"
#include "sources/mongodb/modes/connector.hpp"
#include "sources/mongodb/streaming/deployment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cdc::mongodb::modes {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds read_wait{500};
constexpr int unauthorized = 13;
constexpr int object_too_large = 10334;

/// The resource as the server's role language has it, and the smallest built-in role with the
/// rights.
std::string missing_rights(const cursor::stream_target& target) {
    switch (target.scope) {
    case capture_scope::deployment:
        return "the user lacks the rights changeStream and find on every database (resource {db: "
               "\"\", collection: \"\"}); the role readAnyDatabase of database admin has them";
    case capture_scope::database:
        return fmt::format("the user lacks the rights changeStream and find on database {0} "
                           "(resource {{db: \"{0}\", collection: \"\"}}); the role read of "
                           "database {0} has them",
                           target.db);
    case capture_scope::collection:
        return fmt::format("the user lacks the rights changeStream and find on collection {0}.{1} "
                           "(resource {{db: \"{0}\", collection: \"{1}\"}}); the role read of "
                           "database {0} has them",
                           target.db, target.collection);
    }
    return {};
}

error::diagnostics explained(error::diagnostics d, cursor::phase where,
                             const cursor::stream_target& target) {
    using kind = cursor::resume_action::kind;
    if (d.code == error::errc::server && d.server_code == unauthorized) {
        d.text = missing_rights(target);
        d.server_text.clear(); // repeats the whole command
        return d;
    }
    cursor::resume_policy policy(target.describe(), {}, 0);
    auto action = policy.on_error(where, d);
    if (action.what == kind::position_dead || action.what == kind::position_refused)
        d.code = error::errc::position_lost;
    if (!action.text.empty())
        d.text = std::move(action.text);
    return d;
}

} // namespace

error::result<std::unique_ptr<connector_check>>
connector_check::make(const connector_options& options, asio::any_io_executor reactor,
                      runtime::blocking_pool& blocking, log::logger logger) {
    auto compiled = make_filters(options);
    if (!compiled)
        return std::move(compiled).error();
    auto limits = make_client_options(options);
    limits.socket_timeout = std::min(limits.socket_timeout, longest_reply);
    auto runner = std::make_unique<cursor::client_command_runner>(
        std::move(reactor), blocking, std::move(limits), std::move(logger));
    return std::make_unique<connector_check>(std::move(runner), make_stream_target(options),
                                             std::move(*compiled));
}

connector_check::connector_check(std::unique_ptr<cursor::command_runner> runner,
                                 cursor::stream_target target, filters f)
    : runner_(std::move(runner))
    , target_(std::move(target))
    , filters_(std::move(f))
    , history_(*runner_, target_) {}

asio::awaitable<error::result<void>> connector_check::connect() {
    auto server = co_await runner_->connect();
    if (!server)
        co_return explained(std::move(server).error(), cursor::phase::connecting, target_);
    server_ = std::move(*server);
    co_return error::result<void>{};
}

asio::awaitable<error::result<std::string>> connector_check::version() {
    if (auto good = streaming::check_deployment(server_); !good)
        co_return std::move(good).error();
    co_return co_await streaming::server_version(*runner_);
}

asio::awaitable<error::result<void>>
connector_check::read_once(cursor::database_command aggregate) {
    cursor::change_cursor stream(*runner_, {1, read_wait});
    auto reply = co_await stream.open(std::move(aggregate));
    if (reply && stream.is_open())
        reply = co_await stream.get_more();
    co_await stream.kill();
    // An event that is too large to send was found, so the stream can be read up to it.
    if (!reply && reply.error().server_code != object_too_large)
        co_return std::move(reply).error();
    co_return error::result<void>{};
}

asio::awaitable<error::result<void>> connector_check::read_changes() {
    auto aggregate = cursor::open_change_stream(target_, std::monostate{}, filters_);
    auto read = co_await read_once(std::move(aggregate));
    if (!read)
        co_return explained(std::move(read).error(), cursor::phase::opening_without, target_);
    co_return read;
}

asio::awaitable<error::result<streaming::oplog_history::window>> connector_check::oplog() {
    co_return co_await history_.whole();
}

asio::awaitable<error::result<void>> connector_check::find_position(event::position position) {
    // Without the connector's filters: any event of the target ends the search, and a position does
    // not depend on them.
    auto everything = filters::compile({});
    if (!everything)
        co_return std::move(everything).error();
    auto target = target_;
    target.update_lookup = false;
    const auto since = position.cluster_time();
    const bool of_event = !position.is_high_water();
    auto aggregate = cursor::open_change_stream(target, std::move(position), *everything);
    auto there = co_await read_once(std::move(aggregate));
    // The server only finds out that the token of an event is gone when the next event comes
    // (stream_progress has the story).
    if (there && of_event && since != bson::timestamp{})
        there = co_await history_.reaches_back_to(since);
    if (!there)
        co_return explained(std::move(there).error(), cursor::phase::opening_with_token, target_);
    co_return there;
}

asio::awaitable<void> connector_check::stop() {
    co_await runner_->stop();
}

} // namespace cdc::mongodb::modes
