// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/logger.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cdc::log {

/// Which lines are written: one level for all, and others for single components. A rule for
/// `stream` also holds for `stream.cursor` and `stream/rs0`; the longest rule wins.
class levels {
  public:
    /// "info", or "info,mongodb=debug,sink.file=trace". Nothing when the text is neither.
    static std::optional<levels> parse(std::string_view text);

    level of(std::string_view component) const noexcept;
    bool enabled(std::string_view component, level lv) const noexcept {
        return lv >= of(component);
    }

  private:
    level general_ = level::info;
    std::vector<std::pair<std::string, level>> rules_; ///< longest first
};

} // namespace cdc::log
