// SPDX-License-Identifier: Apache-2.0
#include "core/app/connector.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <utility>

namespace cdc::app {

namespace asio = boost::asio;

namespace {

bool wants_schemas(const config::sink_config& sink, bool by_default) {
    return sink.options.given("schemas.enable") ? sink.options.boolean("schemas.enable")
                                                : by_default;
}

} // namespace

error::result<std::unique_ptr<connector>>
connector::make(const config::connector_config& configuration, const registry& known,
                runtime::reactor& reactor, connector_environment environment) {
    std::unique_ptr<connector> out(new connector(configuration.name, reactor));
    const auto logger = environment.logger.named(configuration.name);
    auto made = known.source(configuration.source)
                    ->make(configuration.options, {.executor = reactor.executor(),
                                                   .blocking = environment.blocking,
                                                   .logger = logger,
                                                   .connector = configuration.name});
    if (!made)
        return made.error();
    out->shutdown_timeout_ = made->shutdown_timeout;

    pipeline::pipeline_parts parts;
    parts.executor = reactor.executor();
    parts.source = std::move(made->source);
    parts.store = environment.store;
    parts.blocking = environment.blocking;
    parts.logger = logger;
    parts.identity = std::move(made->identity);
    parts.changed = std::move(environment.changed);
    std::vector<bool> encodings; // with schemas or not, as the encoders stand
    for (const auto& sink : configuration.sinks) {
        const bool schemas = wants_schemas(sink, made->schemas_enable);
        auto at = std::find(encodings.begin(), encodings.end(), schemas) - encodings.begin();
        if (static_cast<std::size_t>(at) == encodings.size()) {
            encodings.push_back(schemas);
            parts.encoders.push_back(made->make_encoder(schemas));
        }
        const auto* kind = known.sink(sink.type);
        parts.sinks.push_back(
            {.name = sink.name,
             .make = [kind, options = sink.options](
                         sink::context context) { return kind->make(std::move(context), options); },
             .encoding = static_cast<std::size_t>(at)});
    }
    out->pipeline_ =
        std::make_unique<pipeline::pipeline>(std::move(made->options), std::move(parts));
    return out;
}

void connector::start() {
    asio::post(reactor_.executor(), [this] { pipeline_->start(); });
}

pipeline::pipeline_status connector::status() {
    std::promise<pipeline::pipeline_status> answer;
    auto out = answer.get_future();
    asio::post(reactor_.executor(), [this, &answer] { answer.set_value(pipeline_->status()); });
    return out.get();
}

std::future<pipeline::pipeline::summary> connector::stop() {
    const auto deadline = std::chrono::steady_clock::now() + shutdown_timeout_;
    return asio::co_spawn(reactor_.executor(), pipeline_->stop(deadline), asio::use_future);
}

} // namespace cdc::app
