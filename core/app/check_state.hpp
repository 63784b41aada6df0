// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/app/check_report.hpp"
#include "core/offset/store.hpp"

#include <filesystem>
#include <memory>
#include <optional>

namespace cdc::app {

/// The state file as `mongocdc check` finds it.
struct state_view {
    /// To read stored positions from; null: there are none, or they cannot be read.
    std::unique_ptr<offset::store> store;
    bool in_use = false; ///< a running service holds it
};

/// Looks at the state file (nothing: positions live in memory) and reports it as the item "state".
/// Creates and changes nothing. A file that a running service uses is read along with it. Blocks.
state_view check_state(const std::optional<std::filesystem::path>& path, const report_item& report);

} // namespace cdc::app
