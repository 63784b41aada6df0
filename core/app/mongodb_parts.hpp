// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/source_parts.hpp"

#include <string>

namespace cdc::app {

/// `source: mongodb`: a change stream of one replica set as Debezium-shaped events.
/// Errors: configuration.
error::result<source_parts> make_mongodb_parts(const config::values& values,
                                               source_environment environment);

/// What must stay the same while positions are kept, as canonical JSON: positions of one replica
/// set and prefix mean nothing for another. Empty while `set_name` is (not connected yet).
std::string mongodb_identity(const std::string& set_name, const std::string& prefix);

} // namespace cdc::app
