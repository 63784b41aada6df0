// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cdc::app {

/// The program's version, as in `source.version` of every event.
std::string_view version() noexcept;

} // namespace cdc::app
