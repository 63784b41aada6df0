// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/log/logger.hpp"
#include "core/runtime/task_group.hpp"
#include "core/runtime/wake_slot.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cdc::webhook {

/// Addresses of one host. The system's lookup cannot be interrupted and may take long, so the wait
/// for it has a limit of its own: a lookup that is not through goes on, and the next call waits for
/// the same one. Nothing is remembered otherwise. Lives on one reactor.
class name_lookup {
  public:
    using endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

    name_lookup(boost::asio::any_io_executor reactor, std::string host, std::uint16_t port,
                log::logger logger);

    /// At least one. An address needs no lookup. One call at a time.
    /// Errors: network (no such host, ...), timeout, cancelled.
    boost::asio::awaitable<error::result<endpoints>> find(std::chrono::milliseconds limit);

    /// Ends `find` soon, now and from now on.
    void cancel() noexcept;
    /// Waits for a lookup that is under way.
    boost::asio::awaitable<void> stop();

  private:
    boost::asio::awaitable<void> run();

    std::string host_;
    std::uint16_t port_;
    boost::asio::ip::tcp::resolver resolver_;
    std::optional<error::result<endpoints>> found_; ///< of the lookup that was begun last
    bool running_ = false;
    bool cancelled_ = false;
    runtime::wake_slot wake_;
    runtime::task_group tasks_;
};

} // namespace cdc::webhook
