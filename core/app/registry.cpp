// SPDX-License-Identifier: Apache-2.0
#include "core/app/registry.hpp"

#include "core/app/check_mongodb.hpp"
#include "core/app/mongodb_parts.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "sinks/discard/discard_sink.hpp"
#include "sinks/discard/options.hpp"
#include "sinks/file/check.hpp"
#include "sinks/file/file_sink.hpp"
#include "sinks/file/options.hpp"
#include "sinks/webhook/check.hpp"
#include "sinks/webhook/options.hpp"
#include "sinks/webhook/webhook_sink.hpp"
#include "sources/mongodb/options.hpp"

#include <algorithm>
#include <utility>

namespace cdc::app {

namespace {

template <class Kind>
const Kind* named(const std::vector<Kind>& kinds, std::string_view name) noexcept {
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const Kind& kind) { return kind.name == name; });
    return found == kinds.end() ? nullptr : &*found;
}

boost::asio::awaitable<error::result<std::string>> check_file_sink(sink::context context,
                                                                   config::values values) {
    const auto options = file::make_file_options(values);
    auto look = [&options] { return file::check_file(options); };
    co_return co_await context.blocking->run(look);
}

boost::asio::awaitable<error::result<std::string>> check_discard_sink(sink::context,
                                                                      config::values) {
    co_return std::string("keeps nothing");
}

boost::asio::awaitable<error::result<std::string>> check_webhook_sink(sink::context context,
                                                                      config::values values) {
    return webhook::check_webhook(std::move(context), webhook::make_webhook_options(values));
}

} // namespace

const source_kind* registry::source(std::string_view name) const noexcept {
    return named(sources, name);
}

const sink_kind* registry::sink(std::string_view name) const noexcept {
    return named(sinks, name);
}

config::known_kinds registry::kinds() const {
    config::known_kinds out;
    for (const auto& kind : sources)
        out.sources.emplace_back(kind.name, kind.options);
    for (const auto& kind : sinks)
        out.sinks.emplace_back(kind.name, kind.options);
    return out;
}

std::vector<const config::option_table*> registry::tables() const {
    std::vector<const config::option_table*> out{&config::service_table()};
    for (const auto& kind : sources)
        out.push_back(kind.options);
    for (const auto& kind : sinks)
        out.push_back(kind.options);
    return out;
}

registry make_registry() {
    return {
        .sources = {{"mongodb", &mongodb::option_table(), make_mongodb_parts, check_mongodb}},
        .sinks =
            {
                {"file", &file::option_table(),
                 [](sink::context context,
                    const config::values& values) -> std::unique_ptr<sink::sink> {
                     return std::make_unique<file::file_sink>(std::move(context),
                                                              file::make_file_options(values));
                 },
                 check_file_sink},
                {"webhook", &webhook::option_table(),
                 [](sink::context context,
                    const config::values& values) -> std::unique_ptr<sink::sink> {
                     return std::make_unique<webhook::webhook_sink>(
                         std::move(context), webhook::make_webhook_options(values));
                 },
                 check_webhook_sink},
                {"discard", &discard::option_table(),
                 [](sink::context context, const config::values&) -> std::unique_ptr<sink::sink> {
                     return std::make_unique<discard::discard_sink>(std::move(context));
                 },
                 check_discard_sink},
            },
    };
}

} // namespace cdc::app
