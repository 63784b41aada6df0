// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

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
    /// Closes every present connection with RST towards the client; new ones are forwarded.
    void reset_all();
    /// Closes every present connection in order (FIN).
    void cut_all();
    /// The next `bytes` from the server are forwarded, then that connection is reset. Once.
    void reset_after(std::size_t bytes);

    /// Connections accepted so far; open now; bytes forwarded from the server so far.
    std::size_t accepted() const noexcept;
    std::size_t open_connections() const noexcept;
    std::size_t bytes_to_client() const noexcept;

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::test
