// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/change_event.hpp"
#include "core/event/position.hpp"
#include "core/event/record.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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

    // For encoders that keep track of transactions; all encoders of a connector do or none does,
    // and they go through the same states.

    /// The token (`_data`) of the last event of the transaction that is over when `next` comes, or
    /// that `end`, the position behind a batch, has passed; empty when none is.
    virtual std::string_view over_before(const event::change_event& next) {
        (void)next;
        return {};
    }
    virtual std::string_view passed_by(const event::position& end) {
        (void)end;
        return {};
    }
    /// Appends the record that ends it; only when one of the two was not empty.
    virtual void end_transaction(event::record_batch_builder& out) { (void)out; }
    /// What is kept with positions inside a transaction; null outside.
    virtual std::shared_ptr<const std::string> transaction() { return nullptr; }
    /// Goes on where `transaction` was asked; once, before anything is encoded. Errors:
    /// state_invalid.
    virtual error::result<void> restore(const std::string& transaction) {
        (void)transaction;
        return error::result<void>{};
    }
};

} // namespace cdc::pipeline
