// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/gate/cut_plan.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cdc::test {

/// A TCP proxy on 127.0.0.1 that stands between a client and one server and causes faults. Has one
/// thread of its own; all calls are thread-safe and take effect before they return.
class tcp_gate {
  public:
    explicit tcp_gate(std::uint16_t target_port);
    ~tcp_gate();
    tcp_gate(const tcp_gate&) = delete;
    tcp_gate& operator=(const tcp_gate&) = delete;

    std::uint16_t port() const noexcept;
    std::string host_port() const;

    /// Forwards again, in both directions; also what was held back.
    void pass();
    /// Accepts and takes bytes, forwards nothing, closes nothing; for present and new connections.
    void black_hole();
    /// Every piece of up to 64 KiB is held back so long before it goes on; 0: not at all.
    void delay(gate::way way, std::chrono::milliseconds time);
    /// New connections are refused; the port stays reserved. Present ones go on.
    void stop_accepting();
    void accept_again();

    /// Closes every present connection with RST towards both sides; new ones are forwarded.
    void reset_all();
    /// Closes every present connection in order (FIN).
    void cut_all();
    /// The next `bytes` from the server are forwarded, then that connection is reset. Once.
    void reset_after(std::size_t bytes);
    /// Cuts at that point of the protocol's messages (so not with TLS). What was forwarded before
    /// has reached the other side's system by then, and nothing passes the other way meanwhile.
    void cut_at(gate::cut where);
    void no_cut();

    /// Connections accepted so far; open now; bytes forwarded from the server so far.
    std::size_t accepted() const noexcept;
    std::size_t open_connections() const noexcept;
    std::size_t bytes_to_client() const noexcept;
    /// Cuts made by `cut_at` and `reset_after` so far.
    std::size_t cuts() const;
    /// Sizes of the messages that passed whole, of all connections, in order.
    std::vector<std::size_t> messages(gate::way way) const;

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::test
