// SPDX-License-Identifier: Apache-2.0
#include "core/app/service.hpp"

#include "core/app/reactor_watch.hpp"
#include "core/app/troubles.hpp"
#include "core/app/version.hpp"
#include "core/offset/memory_store.hpp"
#include "core/offset/sqlite_store.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor_pool.hpp"
#include "sources/mongodb/client/driver.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace cdc::app {

namespace {

/// For file and database calls: each waits for a disk, few at a time are useful.
constexpr std::size_t blocking_threads = 4;

std::size_t reactor_count(std::size_t connectors) {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    return std::clamp<std::size_t>(connectors, 1, processors);
}

error::result<std::unique_ptr<offset::store>> open_store(const config::configuration& c) {
    if (!c.state_path)
        return std::unique_ptr<offset::store>(std::make_unique<offset::memory_store>());
    auto opened = offset::sqlite_store::open(*c.state_path);
    if (!opened)
        return opened.error();
    return std::unique_ptr<offset::store>(std::move(*opened));
}

} // namespace

struct service::parts {
    parts(log::logger l, std::unique_ptr<offset::store> s, std::size_t connector_count)
        : logger(std::move(l))
        , store(std::move(s))
        , driver(logger.named("driver"))
        , reactors(reactor_count(connector_count))
        , watch(reactors, logger) {}

    struct entry {
        std::unique_ptr<app::connector> connector;
        bool started = false;
        bool failure_logged = false;
        bool failed = false;
    };

    log::logger logger;
    std::unique_ptr<offset::store> store;
    mongodb::client::driver driver;
    runtime::reactor_pool reactors;
    reactor_watch watch;
    runtime::blocking_pool blocking{blocking_threads}; // ends before the reactors it posts to
    std::vector<entry> connectors;
    bool stopped = false;
};

service::service(std::unique_ptr<parts> p)
    : parts_(std::move(p)) {}

service::~service() {
    stop();
}

error::result<std::unique_ptr<service>> service::make(const config::configuration& configuration,
                                                      const registry& known, log::logger logger,
                                                      std::function<void()> changed) {
    auto store = open_store(configuration);
    if (!store)
        return store.error();
    auto p = std::make_unique<parts>(logger, std::move(*store), configuration.connectors.size());
    std::unique_ptr<service> out(new service(std::move(p)));
    auto& made = *out->parts_;
    for (const auto& c : configuration.connectors) {
        auto connector = connector::make(c, known, made.reactors.place(),
                                         {.blocking = &made.blocking,
                                          .store = made.store.get(),
                                          .logger = logger,
                                          .changed = changed});
        if (!connector)
            return connector.error();
        made.connectors.push_back({.connector = std::move(*connector)});
    }
    if (!configuration.state_path)
        logger.warn("state: memory: positions are forgotten when the program ends");
    return out;
}

void service::start() {
    parts_->logger.info("mongocdc {}: {} connector(s) on {} reactor(s)", version(),
                        parts_->connectors.size(), parts_->reactors.reactors().size());
    for (auto& e : parts_->connectors) {
        e.started = true;
        e.connector->start();
    }
}

bool service::stop() {
    if (std::exchange(parts_->stopped, true))
        return true;
    log_failures(false); // what has failed before is no fault of the stop
    bool clean = true;
    std::vector<std::pair<parts::entry*, std::future<pipeline::pipeline::summary>>> stopping;
    for (auto& e : parts_->connectors)
        if (e.started)
            stopping.emplace_back(&e, e.connector->stop());
    for (auto& [entry, future] : stopping) {
        const auto summary = future.get();
        if (summary.error && !entry->failed) {
            clean = false;
            parts_->logger.error("{}: failed while stopping, the next run repeats records: {}",
                                 entry->connector->name(), summary.error->describe());
        }
        for (const auto& sink : summary.sinks)
            parts_->logger.info("{}.{}: {} records delivered, {} undelivered{}",
                                entry->connector->name(), sink.name, sink.delivered,
                                sink.undelivered,
                                sink.undelivered ? " (the next run sends them)" : "");
    }
    parts_->watch.stop();
    return clean;
}

void service::log_failures(bool all) {
    for (auto& e : parts_->connectors) {
        if (!e.started)
            continue;
        const auto status = e.connector->status();
        e.failed = status.state == pipeline::connector_state::failed;
        if (!e.failed || (e.failure_logged && !all) || !status.error)
            continue;
        e.failure_logged = true;
        parts_->logger.error("{}: failed: {}", e.connector->name(), status.error->describe());
    }
}

void service::log_troubles() {
    for (const auto& e : parts_->connectors) {
        if (!e.started || e.failed)
            continue;
        const auto status = e.connector->status();
        for (const auto& line : troubles_of(status, std::chrono::system_clock::now()))
            parts_->logger.warn("{}", line);
    }
}

bool service::all_failed() const noexcept {
    return std::all_of(parts_->connectors.begin(), parts_->connectors.end(),
                       [](const auto& e) { return e.failed; });
}

} // namespace cdc::app
