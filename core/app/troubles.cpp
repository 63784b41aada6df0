// SPDX-License-Identifier: Apache-2.0
#include "core/app/troubles.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cdc::app {

std::vector<std::string> troubles_of(const pipeline::pipeline_status& status,
                                     std::chrono::system_clock::time_point now) {
    std::vector<std::string> out;
    if (status.ended || status.state == pipeline::connector_state::failed)
        return out;
    if (status.source.state.now == source::activity::reconnecting) {
        // The wall clock may have been set back.
        const auto time = std::max(now - status.source.state.since, decltype(now - now)::zero());
        out.push_back(fmt::format("{}: has not been able to read for {} s, {} failed attempts: {}",
                                  status.connector,
                                  std::chrono::duration_cast<std::chrono::seconds>(time).count(),
                                  status.source.state.attempts, status.source.state.reason));
    }
    for (const auto& sink : status.sinks)
        if (sink.state.now == sink::activity::retrying)
            out.push_back(fmt::format("{}.{}: has not been able to deliver, {} failed attempts: {}",
                                      status.connector, sink.name, sink.state.attempts,
                                      sink.state.reason));
    return out;
}

} // namespace cdc::app
