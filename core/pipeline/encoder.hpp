// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/change_event.hpp"
#include "core/event/record.hpp"

#include <cstdint>

namespace cdc::pipeline {

/// Turns change events into the records of one encoding. Used from one reactor, no I/O.
class encoder {
  public:
    virtual ~encoder() = default;

    /// Begins the event in `out` and appends its records, none when it makes none. All encoders of
    /// a connector make the same number of records for an event. On an error `out` is as it was
    /// before. `now_ms`: wall clock, ms since 1970.
    /// Errors: bad_data for what cannot be written in this encoding.
    virtual error::result<void> encode(const event::change_event& e, std::int64_t now_ms,
                                       event::record_batch_builder& out) = 0;
};

} // namespace cdc::pipeline
