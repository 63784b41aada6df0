// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/blocking_pool.hpp"
#include "sources/mongodb/client/runner.hpp"

namespace cdc::mongodb::client {

/// The calls block a thread of the pool. For mechanisms that block outside the sockets.
class thread_runner final : public runner {
  public:
    /// `pool` outlives the runner.
    explicit thread_runner(runtime::blocking_pool& pool)
        : pool_(pool) {}

    boost::asio::awaitable<void> run(std::function<void()> work) override {
        return pool_.run(std::move(work));
    }

  private:
    runtime::blocking_pool& pool_;
};

} // namespace cdc::mongodb::client
