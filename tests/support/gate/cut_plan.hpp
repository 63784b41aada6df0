// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/gate/message_meter.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace cdc::test::gate {

enum class way { to_server, to_client };

/// Where a connection is cut, in messages of MongoDB's wire protocol.
struct cut {
    gate::way way = gate::way::to_client;
    /// So many messages that way pass whole before it: of all connections together since the gate
    /// was made, or of each connection itself.
    std::size_t messages = 0;
    /// So many bytes of the message behind them pass too; when it has fewer, it passes whole.
    std::size_t bytes = 0;
    bool reset = true;            ///< by RST towards both sides; else by FIN
    bool each_connection = false; ///< every connection, from now on; else once
};

/// Counts the messages that pass a gate and decides where a connection is cut. No I/O.
class cut_plan {
  public:
    /// One direction of one connection.
    struct lane {
        message_meter meter;
        std::size_t whole = 0; ///< messages passed
    };
    /// What becomes of bytes that have come.
    struct verdict {
        std::size_t pass = 0;  ///< of them go on now
        bool then_cut = false; ///< and then the connection ends
        bool reset = false;    ///< by RST
    };

    /// Decides about the next `bytes` of a lane and counts those that pass: at most up to the end
    /// of a message. With no bytes: whether the cut's point is reached already.
    verdict next(gate::way way, lane& on, std::span<const char> bytes);

    /// Replaces an earlier one. A single cut whose point is behind what has passed never happens.
    void set(std::optional<gate::cut> where) { cut_ = where; }
    /// The next `bytes` to the client pass, then its connection is reset. Once.
    void reset_after(std::size_t bytes) { reset_in_ = bytes; }

    /// Sizes of the messages that passed whole, of all connections.
    const std::vector<std::size_t>& passed(gate::way way) const noexcept {
        return passed_[static_cast<std::size_t>(way)];
    }
    std::size_t cuts() const noexcept { return cuts_; }

  private:
    std::size_t count(gate::way way, const lane& on) const noexcept;
    bool at_or_behind(std::size_t whole, std::size_t in_message) const noexcept;
    /// Nothing more may pass.
    bool due(gate::way way, const lane& on) const noexcept;

    std::optional<gate::cut> cut_;
    std::optional<std::size_t> reset_in_;
    std::array<std::vector<std::size_t>, 2> passed_;
    std::size_t cuts_ = 0;
};

} // namespace cdc::test::gate
