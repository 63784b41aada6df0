// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/registry.hpp"
#include "core/config/configuration.hpp"
#include "core/error/result.hpp"
#include "core/log/logger.hpp"
#include "core/offset/store.hpp"
#include "core/pipeline/pipeline.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>

namespace cdc::app {

/// What all connectors of a service share; everything outlives them.
struct connector_environment {
    runtime::blocking_pool* blocking = nullptr;
    offset::store* store = nullptr;
    log::logger logger;
    /// A connector's state changed. Called on its reactor.
    std::function<void()> changed;
};

/// One connector of the configuration on its reactor: composes source, encodings and sinks into a
/// pipeline. Made, started, asked and stopped from the service's thread; each call hands itself
/// over to the reactor.
class connector {
  public:
    /// Errors: configuration.
    static error::result<std::unique_ptr<connector>>
    make(const config::connector_config& configuration, const registry& known,
         runtime::reactor& reactor, connector_environment environment);

    /// `stop` must have been called and its future be ready, or it never started.
    ~connector() = default;

    const std::string& name() const noexcept { return name_; }
    void start();
    /// What it is doing; blocks for a moment.
    pipeline::pipeline_status status();
    /// Stops reading, delivers what is in flight for at most shutdown.timeout.ms, stores positions.
    std::future<pipeline::pipeline::summary> stop();

  private:
    connector(std::string name, runtime::reactor& reactor)
        : name_(std::move(name))
        , reactor_(reactor) {}

    std::string name_;
    runtime::reactor& reactor_;
    std::chrono::milliseconds shutdown_timeout_{};
    std::unique_ptr<pipeline::pipeline> pipeline_;
};

} // namespace cdc::app
