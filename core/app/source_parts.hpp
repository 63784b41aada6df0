// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/values.hpp"
#include "core/error/result.hpp"
#include "core/log/logger.hpp"
#include "core/pipeline/encoder.hpp"
#include "core/pipeline/pipeline.hpp"
#include "sources/source.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace cdc::runtime {
class blocking_pool;
}

namespace cdc::app {

/// What a source is made with.
struct source_environment {
    boost::asio::any_io_executor executor; ///< the connector's reactor
    runtime::blocking_pool* blocking = nullptr;
    log::logger logger;
    std::string connector; ///< name in the configuration
};

/// What a kind of source brings to a connector, all of it living on the connector's reactor.
struct source_parts {
    std::unique_ptr<source::source> source;
    /// One encoder for sinks that want schemas (or not). Those of one connector give the same
    /// records.
    std::function<std::shared_ptr<pipeline::encoder>(bool with_schemas)> make_encoder;
    /// See pipeline_parts::identity. May use the source, so it must not be kept longer.
    std::function<std::string()> identity;
    pipeline::pipeline_options options;
    bool schemas_enable = true; ///< for sinks that do not say
    std::chrono::milliseconds shutdown_timeout{10000};
};

using make_source_parts =
    std::function<error::result<source_parts>(const config::values&, source_environment)>;

} // namespace cdc::app
