// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/task_group.hpp"
#include "core/runtime/wake_slot.hpp"
#include "sinks/file/line_writer.hpp"
#include "sinks/file/options.hpp"
#include "sinks/sink.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace cdc::file {

/// Appends records to a file, one line each, in the order they came. One write and, with
/// `fsync: batch`, one fdatasync for all batches of a `write` call. All file work is done on the
/// blocking pool. The file is locked: a second writer of any process is refused at start.
///
/// Every file error is terminal: it names the path and the system's text, what was half written is
/// cut away where possible, and nothing of it is acknowledged. `write` and `flush` under `cancel`
/// return as soon as the system call that is under way has returned.
class file_sink final : public sink::sink {
  public:
    file_sink(cdc::sink::context context, file_options options);
    /// Everything must have been stopped.
    ~file_sink() override;

    boost::asio::awaitable<error::result<void>> start() override;
    boost::asio::awaitable<error::result<void>>
    write(std::vector<std::shared_ptr<const event::record_batch>> batches) override;
    /// With `fsync: interval` does not wait for the interval.
    boost::asio::awaitable<error::result<void>> flush() override;
    void cancel() noexcept override;
    boost::asio::awaitable<void> stop() override;

  private:
    boost::asio::awaitable<void> run_interval();
    /// Makes everything written so far durable and acknowledges it.
    boost::asio::awaitable<error::result<void>> sync_written();
    error::result<void> usable() const;
    void acknowledge_through(std::uint64_t last);

    cdc::sink::context context_;
    file_options options_;
    std::unique_ptr<line_writer> writer_; ///< used on the blocking pool, one call at a time
    /// Holds what is written and not yet durable; unlike the writer's own pointer it is only
    /// touched on the reactor. A rotation makes the file it leaves durable.
    std::shared_ptr<append_file> unsynced_;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> written_; ///< not acknowledged, in order
    std::chrono::steady_clock::time_point written_since_;
    std::optional<error::diagnostics> failure_;
    bool cancelled_ = false;
    bool ending_ = false;
    runtime::wake_slot wake_;
    runtime::task_group tasks_;
};

} // namespace cdc::file
