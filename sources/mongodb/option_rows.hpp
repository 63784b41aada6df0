// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/option.hpp"

#include <vector>

namespace cdc::mongodb {

/// The options that work. Names and meanings are Debezium's (its MongoDB connector, 3.x); a row's
/// text says where the default or the range differs.
std::vector<config::option> supported_rows();

/// Every other key that a Debezium MongoDB connector knows or knew: those of later versions of this
/// program, old names, and what belongs to Kafka Connect.
std::vector<config::option> other_debezium_rows();

} // namespace cdc::mongodb
