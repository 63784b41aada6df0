// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"
#include "core/error/diagnostics.hpp"
#include "core/event/position.hpp"
#include "core/pipeline/bounded_queue.hpp"
#include "sinks/sink_state.hpp"
#include "sources/source.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::pipeline {

enum class connector_state {
    starting, ///< opening positions, sinks and source; waits here while the server is away
    running,
    stopping, ///< asked to stop, delivers what is in flight
    failed,   ///< terminal; `pipeline_status::error` says why
    stopped,
};

constexpr std::string_view name(connector_state s) noexcept {
    switch (s) {
    case connector_state::starting:
        return "starting";
    case connector_state::running:
        return "running";
    case connector_state::stopping:
        return "stopping";
    case connector_state::failed:
        return "failed";
    case connector_state::stopped:
        return "stopped";
    }
    return "unknown";
}

struct sink_status {
    std::string name;
    std::uint64_t delivered = 0;                     ///< records acknowledged in this run
    std::uint64_t pending = 0;                       ///< records read for it and not acknowledged
    std::shared_ptr<const event::position> position; ///< safe, stored or soon to be; null: none
    cdc::sink::state state;                          ///< delivering or retrying, as the sink says
};

/// A connector as a value, at one moment.
struct pipeline_status {
    std::string connector;
    connector_state state = connector_state::starting;
    bool ended = false;        ///< nothing of it runs any more
    std::uint64_t events = 0;  ///< read in this run
    std::uint64_t records = 0; ///< made of them
    std::uint64_t bytes = 0;   ///< of these records, all encodings
    bson::timestamp last_event_time;
    bounded_queue::fill queue;
    bounded_queue::limits queue_bounds;
    std::optional<error::diagnostics> error;
    std::vector<sink_status> sinks;
    cdc::source::source_status source;
};

} // namespace cdc::pipeline
