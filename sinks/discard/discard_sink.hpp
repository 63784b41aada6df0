// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sinks/sink.hpp"

namespace cdc::discard {

/// Acknowledges everything at once and keeps nothing: for benchmarks and dry runs.
class discard_sink final : public sink::sink {
  public:
    explicit discard_sink(cdc::sink::context context)
        : context_(std::move(context)) {}

    boost::asio::awaitable<error::result<void>> start() override;
    boost::asio::awaitable<error::result<void>>
    write(std::vector<std::shared_ptr<const event::record_batch>> batches) override;
    boost::asio::awaitable<error::result<void>> flush() override;
    void cancel() noexcept override { cancelled_ = true; }
    boost::asio::awaitable<void> stop() override;

  private:
    cdc::sink::context context_;
    bool cancelled_ = false;
};

} // namespace cdc::discard
