// SPDX-License-Identifier: Apache-2.0
#include "core/app/check.hpp"

#include "core/app/check_report.hpp"
#include "core/app/check_state.hpp"
#include "core/app/exit_code.hpp"
#include "core/pipeline/offset_keeper.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor.hpp"
#include "sources/mongodb/client/driver.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace cdc::app {

namespace asio = boost::asio;

namespace {

std::size_t widest_item(const config::configuration& c) {
    std::size_t widest = std::string_view("options").size();
    for (const auto& connector : c.connectors) {
        std::size_t item = std::string_view("identity").size();
        for (const auto& sink : connector.sinks)
            item = std::max(item, std::string_view("position.").size() + sink.name.size());
        widest = std::max(widest, connector.name.size() + 1 + item);
    }
    return widest;
}

/// The stored state of one connector; nothing when there is none or it cannot be read, which is
/// then reported.
std::optional<stored_positions> stored_of(const config::connector_config& connector,
                                          offset::store& store, const report_item& report) {
    auto entries = store.load(connector.name);
    auto identity = store.load_identity(connector.name);
    if (!entries || !identity) {
        report(verdict::fail, "identity",
               (entries ? identity.error() : entries.error()).describe());
        return std::nullopt;
    }
    stored_positions out;
    out.identity = std::move(*identity);
    for (const auto& sink : connector.sinks)
        out.sinks.emplace_back(sink.name, std::nullopt);
    for (auto& e : *entries) {
        const auto at = std::find_if(out.sinks.begin(), out.sinks.end(),
                                     [&](const auto& s) { return s.first == e.key.sink; });
        if (at == out.sinks.end() || e.key.partition != pipeline::offset_keeper::partition)
            out.of_other_sinks = true;
        else
            at->second = std::move(e.position);
    }
    return out;
}

/// What the checks of one connector need; outlives them.
struct connector_items {
    const config::connector_config& configuration;
    const registry& known;
    source_environment environment;
    std::optional<stored_positions> stored;
    report_item report;
    bool state_in_use;
};

asio::awaitable<void> check_sinks(const connector_items& of) {
    for (const auto& sink : of.configuration.sinks) {
        const auto item = "sink." + sink.name;
        const auto* kind = of.known.sink(sink.type);
        if (!kind->check) {
            of.report(
                verdict::warn, item,
                fmt::format("whether a sink of type {} could deliver is not looked at", sink.type));
            continue;
        }
        sink::context context;
        context.executor = of.environment.executor;
        context.blocking = of.environment.blocking;
        context.logger = of.environment.logger;
        context.connector = of.configuration.name;
        context.name = sink.name;
        config::values options = sink.options;
        const auto found = co_await kind->check(std::move(context), std::move(options));
        if (found)
            of.report(verdict::ok, item, *found);
        else if (found.error().code == error::errc::state_locked && of.state_in_use)
            of.report(verdict::warn, item,
                      found.error().describe() + "; the state file is in use too, so it may well "
                                                 "be this connector at work");
        else
            of.report(verdict::fail, item, found.error().describe());
    }
}

asio::awaitable<void> check_connector(const connector_items& of) {
    const auto* kind = of.known.source(of.configuration.source);
    if (kind->check) {
        config::values options = of.configuration.options;
        source_environment environment = of.environment;
        source_check check{of.report, of.stored};
        co_await kind->check(std::move(options), std::move(environment), std::move(check));
    }
    co_await check_sinks(of);
}

} // namespace

int check(const config::configuration& configuration, const registry& known, log::logger logger,
          std::shared_ptr<const log::redactor> hidden, std::ostream& out) {
    check_report report(out, widest_item(configuration), std::move(hidden));
    report.add(verdict::ok, "options",
               fmt::format("{}: {} connector(s)", configuration.file.string(),
                           configuration.connectors.size()));
    const auto state = check_state(configuration.state_path,
                                   [&](verdict v, const std::string& item,
                                       const std::string& text) { report.add(v, item, text); });

    const mongodb::client::driver driver(logger.named("driver"));
    runtime::reactor reactor("check");
    runtime::blocking_pool blocking(1);
    for (const auto& connector : configuration.connectors) {
        connector_items items{.configuration = connector,
                              .known = known,
                              .environment = {.executor = reactor.executor(),
                                              .blocking = &blocking,
                                              .logger = logger.named(connector.name),
                                              .connector = connector.name},
                              .stored = std::nullopt,
                              .report =
                                  [&](verdict v, const std::string& item, const std::string& text) {
                                      report.add(v, connector.name + "." + item, text);
                                  },
                              .state_in_use = state.in_use};
        if (state.store)
            items.stored = stored_of(connector, *state.store, items.report);
        asio::co_spawn(reactor.executor(), check_connector(items), asio::use_future).get();
    }
    return report.failed() ? exit_code::check_failed : exit_code::stopped;
}

} // namespace cdc::app
