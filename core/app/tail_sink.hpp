// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sinks/sink.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::app {

/// Where `mongocdc tail` delivers to: writes the value of every record to a file descriptor, a
/// line (or, indented, some lines) each. What a call of `write` was given is handed to the system
/// before it returns. Not a sink of configurations.
///
/// `done` is called once, on the executor, when nothing more will be written: `limit` records were,
/// or whoever read the other end has gone. From then on records are acknowledged and dropped.
/// Errors: io.
class tail_sink final : public sink::sink {
  public:
    struct settings {
        int fd = 1; ///< borrowed
        bool pretty = false;
        std::optional<std::uint64_t> limit;
        std::function<void()> done;
    };

    tail_sink(cdc::sink::context context, settings s)
        : context_(std::move(context))
        , settings_(std::move(s)) {}

    boost::asio::awaitable<error::result<void>> start() override;
    boost::asio::awaitable<error::result<void>>
    write(std::vector<std::shared_ptr<const event::record_batch>> batches) override;
    boost::asio::awaitable<error::result<void>> flush() override;
    /// Ends a `write` whose reader does not read within a tenth of a second.
    void cancel() noexcept override;
    boost::asio::awaitable<void> stop() override;

  private:
    void append(const event::record_batch& batch);
    /// On the blocking pool. False: nobody reads any more, or cancelled.
    error::result<bool> write_out();
    void end();

    cdc::sink::context context_;
    settings settings_;
    std::string buffer_; ///< used by one call at a time, on the reactor or on the pool
    std::uint64_t count_ = 0;
    bool ended_ = false;
    std::atomic<bool> cancelled_ = false;
};

} // namespace cdc::app
