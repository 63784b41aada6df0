// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/deployment.hpp"

#include "core/bson/builder.hpp"

#include <fmt/format.h>

namespace cdc::mongodb::streaming {

namespace asio = boost::asio;

error::result<void> check_deployment(const client::server_description& server) {
    if (!server.set_name.empty())
        return {};
    if (server.server_type == "Mongos")
        return error::fail(error::errc::unsupported,
                           fmt::format("{} is a mongos; sharded clusters are not supported, "
                                       "connect to a replica set",
                                       server.host));
    return error::fail(error::errc::unsupported,
                       fmt::format("{} is a standalone server; change streams need a replica set "
                                   "(one member is enough)",
                                   server.host));
}

asio::awaitable<error::result<std::string>> server_version(cursor::command_runner& runner) {
    bson::builder b;
    b.int32("buildInfo", 1);
    auto build_info = b.finish();
    std::string db = "admin";
    auto reply = co_await runner.command(std::move(db), std::move(build_info));
    if (!reply && reply.error().code != error::errc::server)
        co_return std::move(reply).error();
    if (reply)
        if (const auto v = bson::find(*reply, "version"); v && v->kind() == bson::type::string)
            co_return std::string(v->as_string());
    co_return std::string("unknown");
}

} // namespace cdc::mongodb::streaming
