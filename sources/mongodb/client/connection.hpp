// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace boost::asio::ssl {
class context;
}

namespace cdc::mongodb::client {

/// One TCP or TLS connection with non-blocking transfers: every call returns at once, and where it
/// has to say "later" it has arranged that `changed` is called when trying again is worthwhile.
///
/// Lives on one reactor. Shared ownership, because operations in flight hold it until they have
/// seen their cancellation; after `close` it does nothing more and calls nothing any more.
class connection : public std::enable_shared_from_this<connection> {
  public:
    struct target {
        std::string host; ///< name or literal address
        std::uint16_t port = 0;
        /// Null for plain TCP. Carries verification and client certificate.
        std::shared_ptr<boost::asio::ssl::context> tls;
        bool verify_host_name = true;
    };

    /// `changed` is the last thing a completion handler does: it may run arbitrary code.
    static std::shared_ptr<connection> make(boost::asio::any_io_executor reactor, target to,
                                            std::function<void()> changed);
    virtual ~connection() = default;
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// Resolves, connects and shakes hands; ends soon after `close`. Failures end in `failed()`.
    virtual boost::asio::awaitable<void> run_open() = 0;
    /// Cancels everything in flight and closes the socket.
    virtual void close() noexcept = 0;

    /// What a transfer did.
    struct outcome {
        enum class kind { done, later, end, failed } what;
        std::size_t bytes = 0; ///< > 0 with `done`
    };
    /// Reads at least one byte. Small reads go through a read-ahead buffer, large ones straight
    /// into `into` (plain TCP).
    virtual outcome read(std::span<std::uint8_t> into) noexcept = 0;
    /// Takes over bytes of `from`, in order; TLS takes all or none.
    virtual outcome write(std::span<const iovec> from) noexcept = 0;
    /// True when all that `write` took over has been handed to the system. TLS only lags.
    virtual bool flushed() const noexcept = 0;
    /// True when `read` would not say `later`; else arranges for `changed`.
    virtual bool readable() noexcept = 0;
    /// True when the peer has closed, found by looking without taking bytes.
    virtual bool peer_closed() noexcept = 0;

    bool opened() const noexcept { return state_ == state::open; }
    bool failed() const noexcept { return state_ == state::failed; }
    /// errno-like value of the failure.
    int error_number() const noexcept { return error_number_; }
    /// "127.0.0.1:27017: certificate verify failed"; empty before a failure.
    const std::string& failure() const noexcept { return failure_; }

  protected:
    connection() = default;
    enum class state { opening, open, failed, closed };
    state state_ = state::opening;
    int error_number_ = 0;
    std::string failure_;
};

} // namespace cdc::mongodb::client
