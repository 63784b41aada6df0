// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/check.hpp"

#include "core/runtime/blocking_pool.hpp"
#include "sinks/webhook/http_client.hpp"

#include <fmt/format.h>

namespace cdc::webhook {

boost::asio::awaitable<error::result<std::string>> check_webhook(cdc::sink::context context,
                                                                 webhook_options options) {
    http_client client(context.executor, options.url, {.connect = options.connect_timeout},
                       context.logger);
    error::result<void> reached;
    if (options.url.tls) {
        auto load = [&client, &options] { return client.trust(options.ca_file); };
        reached = co_await context.blocking->run(load);
    }
    if (reached)
        reached = co_await client.connect();
    co_await client.stop();
    if (!reached) {
        auto d = reached.error();
        d.text = fmt::format("webhook {}: {}", options.url.shown(), d.text);
        co_return d;
    }
    co_return fmt::format("{} takes connections{}", options.url.shown(),
                          options.url.tls ? " and proves its name (TLS)" : "");
}

} // namespace cdc::webhook
