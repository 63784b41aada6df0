// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/log/logger.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "sources/mongodb/client/client.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"
#include "sources/mongodb/filters.hpp"
#include "sources/mongodb/options.hpp"
#include "sources/mongodb/streaming/stream_source.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace cdc::mongodb::modes {

/// How a connector reaches its deployment.
client::client_options make_client_options(const connector_options& options);

/// What its change stream is opened on.
cursor::stream_target make_stream_target(const connector_options& options);

/// Its include and exclude lists. Errors: configuration, naming option and item.
error::result<filters> make_filters(const connector_options& options);

/// Composes the source of a connector of `source: mongodb`: a client of its own, the filters, the
/// change stream. Opens no connection. `blocking` must outlive the source.
/// Errors: configuration, naming option and item, when a filter is wrong.
error::result<std::unique_ptr<streaming::stream_source>>
make_connector_source(const connector_options& options, boost::asio::any_io_executor reactor,
                      runtime::blocking_pool& blocking, log::logger logger);

} // namespace cdc::mongodb::modes
