// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/wake_slot.hpp"
#include "sinks/sink.hpp"
#include "sinks/webhook/http_client.hpp"
#include "sinks/webhook/options.hpp"
#include "sinks/webhook/record_request.hpp"
#include "sinks/webhook/retry_plan.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdc::webhook {

/// POSTs every record to a URL, one after the other in the order they came: the next is sent once
/// the one before was answered with 2xx, which acknowledges it. What may pass (network, TLS,
/// timeouts, answers that are not HTTP, 408, 429, 5xx) is tried again without end, meanwhile
/// `status` says `retrying`. Redirects and all other answers are terminal.
///
/// `write` returns when all its records are delivered, so nothing is held beyond the call and a
/// slow receiver makes the pipeline wait. `start` does not connect.
class webhook_sink final : public sink::sink {
  public:
    webhook_sink(cdc::sink::context context, webhook_options options);
    /// Must have been stopped.
    ~webhook_sink() override;

    /// Reads the authorities for https. Errors: configuration.
    boost::asio::awaitable<error::result<void>> start() override;
    boost::asio::awaitable<error::result<void>>
    write(std::vector<std::shared_ptr<const event::record_batch>> batches) override;
    boost::asio::awaitable<error::result<void>> flush() override;
    void cancel() noexcept override;
    boost::asio::awaitable<void> stop() override;
    cdc::sink::state status() const override;

  private:
    boost::asio::awaitable<error::result<void>> deliver(event::record r);
    boost::asio::awaitable<void> stamp(http_request& request, const std::string& id);
    boost::asio::awaitable<void> wait_before_retry(std::string reason,
                                                   std::optional<std::string> retry_after);
    void recovered();
    error::result<void> usable() const;

    cdc::sink::context context_;
    webhook_options options_;
    std::string where_; ///< for logs and errors
    record_request requests_;
    http_client client_;
    retry_plan retries_;
    std::string reason_; ///< of the last failure, while retrying
    std::optional<error::diagnostics> failure_;
    bool cancelled_ = false;
    runtime::wake_slot wake_; ///< ends the wait before a retry
};

} // namespace cdc::webhook
