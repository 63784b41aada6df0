// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>

namespace cdc::mongodb::client {

/// Lets only a few TLS handshakes run at a time on one reactor. A handshake costs a millisecond or
/// two of computing; when hundreds of connections come back at once, a round of the reactor would
/// otherwise last as long as all of them together. One instance per io_context, shared by
/// everything on it; not thread-safe, like the reactor itself.
class handshake_limit {
  public:
    static constexpr int at_once = 4;
    /// A peer that is slow or silent computes nothing, so it keeps others waiting no longer than
    /// this.
    static constexpr std::chrono::milliseconds longest_turn{50};

    /// The instance of this reactor.
    static handshake_limit& of(const boost::asio::any_io_executor& reactor);

    class turn_state;
    /// Given back when the pointer goes, or after `longest_turn`.
    using turn = std::shared_ptr<turn_state>;

    /// Waits for a turn, first come first served.
    boost::asio::awaitable<turn> acquire();

    handshake_limit();
    ~handshake_limit();

  private:
    friend class turn_state;
    void release();
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::mongodb::client
