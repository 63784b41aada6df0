// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/logger.hpp"
#include "core/runtime/task_group.hpp"
#include "sources/mongodb/client/fiber_runner.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace boost::asio::ssl {
class context;
}
struct _mongoc_client_t;

namespace cdc::mongodb::client {

class connection;

/// All streams of one libmongoc client: what its callbacks share. libmongoc asks for a stream per
/// member (through the initiator) and then calls readv, writev and poll on it from the fiber; each
/// of these suspends the fiber where a socket would block.
///
/// Rules of libmongoc that shape this (1.23.1 to 2.x):
/// - The initiator never suspends and never gives NULL (1.23.1 locks itself up when it does while a
///   known member is rescanned): it gives a stream that is still opening; a failure shows in poll.
/// - All members of one scan are polled together, so they are dialled in parallel.
/// - errno is the callbacks' second result and is set last.
/// Lives on the client's reactor; must outlive the libmongoc client.
class stream_hub {
  public:
    struct options {
        std::shared_ptr<boost::asio::ssl::context> tls; ///< null for plain TCP
        bool verify_host_name = true;
        /// How long silent members are waited for once the primary has answered a scan.
        std::chrono::milliseconds scan_grace{200};
    };

    stream_hub(boost::asio::any_io_executor reactor, fiber_runner& runner, options o,
               log::logger logger);
    ~stream_hub();
    stream_hub(const stream_hub&) = delete;
    stream_hub& operator=(const stream_hub&) = delete;

    /// Makes `client` use this hub. The last set-up step of a client: setting TLS options after it
    /// would send 1.23.1 into an endless loop.
    void attach(_mongoc_client_t* client);

    /// Makes every present and future callback fail at once, so that libmongoc unwinds by itself.
    /// For good. Safe to call at any time on the reactor.
    void poison();
    bool poisoned() const noexcept { return poisoned_; }

    /// Before each operation: forgets the failures of the one before, and its scan.
    void begin_operation();
    /// Before each further scan of an operation.
    void begin_scan() noexcept;
    /// The reason why a connection failed during this operation, in our words (libmongoc's text
    /// calls a failed certificate check "connection refused"); empty when none did.
    const std::string& last_failure() const noexcept { return last_failure_; }
    /// The newest such reason of the operations before.
    const std::string& earlier_failure() const noexcept { return earlier_failure_; }
    /// After an operation that went well: what failed before explains nothing any more.
    void forget_failures() { earlier_failure_.clear(); }
    /// True when a read or write of this operation ran into its time limit.
    bool timed_out() const noexcept { return timed_out_; }

    /// Waits for the connections' coroutines; after all streams are destroyed.
    boost::asio::awaitable<void> join();

  private:
    friend struct stream;
    friend struct stream_callbacks;

    void note_failure(const std::string& text);

    boost::asio::any_io_executor reactor_;
    fiber_runner& runner_;
    options options_;
    log::logger logger_;
    runtime::task_group opening_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    bool poisoned_ = false;
    bool timed_out_ = false;
    std::string last_failure_;
    std::string earlier_failure_;
    /// When a member answered this scan as primary; unset outside of scans.
    std::chrono::steady_clock::time_point primary_answered_{};
};

} // namespace cdc::mongodb::client
