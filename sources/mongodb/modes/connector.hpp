// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/log/logger.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "sources/mongodb/options.hpp"
#include "sources/mongodb/streaming/stream_source.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace cdc::mongodb::modes {

/// Composes the source of a connector of `source: mongodb`: a client of its own, the filters, the
/// change stream. Opens no connection. `blocking` must outlive the source.
/// Errors: configuration, naming option and item, when a filter is wrong.
error::result<std::unique_ptr<streaming::stream_source>>
make_connector_source(const connector_options& options, boost::asio::any_io_executor reactor,
                      runtime::blocking_pool& blocking, log::logger logger);

} // namespace cdc::mongodb::modes
