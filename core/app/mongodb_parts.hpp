// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/source_parts.hpp"

namespace cdc::app {

/// `source: mongodb`: a change stream of one replica set as Debezium-shaped events.
/// Errors: configuration.
error::result<source_parts> make_mongodb_parts(const config::values& values,
                                               source_environment environment);

} // namespace cdc::app
