// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/change_event.hpp"
#include "core/event/position.hpp"
#include "sources/source_state.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdc::source {

/// One server reply: owns the bytes that its events are views of.
class batch {
  public:
    virtual ~batch() = default;
    /// In stream order. Filters are applied already.
    virtual const std::vector<event::change_event>& events() const noexcept = 0;
    /// A position behind all events of this batch that may be stored once they are acknowledged;
    /// nothing when the batch moves no position beyond its events (or must not yet).
    virtual const std::optional<event::position>& end() const noexcept = 0;
    /// Size of the reply in bytes.
    virtual std::size_t bytes() const noexcept = 0;
};

/// What a source tells about itself, at one moment.
struct source_status {
    std::uint64_t reopened = 0; ///< times that reading had to begin again after a fault
    std::uint64_t gaps = 0;     ///< lost positions behind which reading went on, each a gap
    /// Between the stored position and the oldest change that can still be read: for so long the
    /// connector may stand still. Nothing when it is not known.
    std::optional<std::chrono::milliseconds> headroom;
    cdc::source::state state; ///< reading or reconnecting
    /// What came and made no event: of namespaces that are not wanted, of kinds that make no
    /// records, and the oversized.
    std::uint64_t skipped = 0;
    std::uint64_t oversized = 0; ///< events left out because of their size
};

/// Where a connector reads from. Lives on one reactor; one call at a time. Retries, reconnects and
/// reopening are the source's own; what comes out as an error is terminal for the connector.
class source {
  public:
    virtual ~source() = default;

    /// Connects and opens at `from`; empty: where the configuration says, which is from now unless
    /// it says otherwise. Waits through faults that pass. When `from` was empty the first batch is
    /// empty and its end is where reading began, so that this can be stored before anything is
    /// delivered.
    virtual boost::asio::awaitable<error::result<void>> start(event::position from) = 0;

    /// The next batch, in order, without gap or repeat. Errors: cancelled after `cancel`, else
    /// terminal.
    virtual boost::asio::awaitable<error::result<std::unique_ptr<batch>>> next_batch() = 0;

    /// `lowest` is stored now: a start would begin there. On the connector's reactor.
    virtual void stored(const event::position& lowest) { (void)lowest; }

    /// On the connector's reactor, from construction on.
    virtual source_status status() const { return {}; }

    /// Ends a pending call soon with `cancelled`; every later call gives `cancelled` too.
    virtual void cancel() noexcept = 0;

    /// Awaits everything it spawned and closes connections. After it only the destructor may run.
    virtual boost::asio::awaitable<void> stop() = 0;
};

} // namespace cdc::source
