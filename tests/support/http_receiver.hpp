// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cdc::test {

/// A request as it arrived, whole.
struct received_request {
    std::string method;
    std::string target;
    std::vector<std::pair<std::string, std::string>> headers; ///< in their order, names lower-case
    std::string body;
    std::size_t connection = 0; ///< 1, 2, ... in the order of accepting
    std::chrono::steady_clock::time_point arrived;
    std::chrono::system_clock::time_point arrived_at;

    /// All values of that name, joined with " | " when there are several; empty: none.
    std::string header(std::string_view name) const;
    std::size_t header_bytes() const; ///< of names and values
};

/// What the receiver does with a request.
struct receiver_answer {
    unsigned status = 200;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    std::optional<std::string> raw; ///< sent as it is instead of an answer; then the end
    bool close = false;             ///< end the connection without any answer
    bool reset = false;             ///< ... with RST
    bool close_after = false;       ///< end the connection after the answer, without announcing it
    bool held = false;              ///< first wait for `release`
    bool stall = false;             ///< after what was sent, neither go on nor close
};

/// An HTTP(S) server on 127.0.0.1 that answers as it is told and keeps what it got. Owns one
/// thread; all calls are thread-safe.
class http_receiver {
  public:
    /// Called on the receiver's thread, with the number of the request: 1, 2, ...
    using decision = std::function<receiver_answer(const received_request&, std::size_t)>;

    struct options {
        std::uint16_t port = 0;               ///< 0: a free one
        std::string certificate_and_key = {}; ///< PEM file; set: HTTPS
        /// Answer with this status before the body was read, and close.
        std::optional<unsigned> early_status = {};
    };

    explicit http_receiver(decision decide = {})
        : http_receiver(std::move(decide), options{}) {}
    http_receiver(decision decide, options how);
    /// These answers, then 200 for all others.
    explicit http_receiver(std::vector<receiver_answer> script);
    http_receiver(std::vector<receiver_answer> script, options how);
    /// Closes all connections and waits for the thread.
    ~http_receiver();
    http_receiver(const http_receiver&) = delete;
    http_receiver& operator=(const http_receiver&) = delete;

    std::uint16_t port() const noexcept;
    std::string url(std::string_view target = "/hook") const;

    std::vector<received_request> requests() const;
    std::size_t count() const;
    std::size_t connections() const noexcept; ///< accepted so far
    std::size_t open_connections() const noexcept;

    /// Lets one request that is held, or will be, go on.
    void release();
    /// Closes every connection in order (FIN); goes on accepting.
    void close_connections();
    /// The next `count` connections are closed as soon as they were accepted.
    void refuse_next(std::size_t count);

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::test
