// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/change_event.hpp"
#include "core/event/control_record.hpp"
#include "core/event/position.hpp"
#include "sources/mongodb/streaming/oplog_history.hpp"
#include "sources/source.hpp"

#include <optional>
#include <vector>

namespace cdc::mongodb::streaming {

/// The one control event that tells of a gap: changes behind a lost position that will never be
/// delivered. Its position is where reading goes on, so that this is stored only once the record
/// was acknowledged; whoever is killed before finds the lost position again, and the gap.
///
///     topic  <prefix>.gap
///     key    {"id":"gap"}
///     value  … "type":"gap", "from_time", "from_token" (the lost position), "to_time", "to_token"
///            (where reading goes on), "oldest_time", "newest_time" (of the oplog; null when
///            unknown)
class gap_batch final : public source::batch {
  public:
    gap_batch(const event::position& from, event::position to,
              const std::optional<oplog_history::window>& oplog);

    const std::vector<event::change_event>& events() const noexcept override { return events_; }
    const std::optional<event::position>& end() const noexcept override { return end_; }
    std::size_t bytes() const noexcept override { return bytes_; }

  private:
    event::control_record record_;
    std::optional<event::position> end_;
    std::vector<event::change_event> events_;
    std::size_t bytes_ = 0;
};

} // namespace cdc::mongodb::streaming
