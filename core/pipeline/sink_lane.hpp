// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/pipeline/pipeline.hpp"

namespace cdc::pipeline {

/// One sink of a pipeline and its bookkeeping; private to the pipeline.
struct pipeline::sink_lane {
    std::string name;
    std::size_t encoding = 0;
    ack_window window{event::position{}};
    std::uint64_t had = 0; ///< records passed over because the sink has them from an earlier run
    bool started = false;
    std::unique_ptr<sink::sink> sink;
};

} // namespace cdc::pipeline
