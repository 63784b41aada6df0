// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor.hpp"
#include "sinks/webhook/webhook_sink.hpp"
#include "tests/support/log_capture.hpp"

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cdc::test {

/// A record to be made, with what identifies its event.
struct record_spec {
    std::string key = R"({"id":"1"})";
    std::optional<std::string> value = R"({"n":1})";
    event::operation op = event::operation::create;
    std::string topic = "p.db.c";
    std::string token = "8264";
};

/// One event each; sequences from `first` on.
std::shared_ptr<const event::record_batch> make_batch(std::uint64_t first,
                                                      const std::vector<record_spec>& records);

/// Options towards `url` with short waits (1 ms to 4 ms).
webhook::webhook_options quick_webhook(const std::string& url);

/// A webhook sink on a reactor of its own, driven from the test's thread. Started at once, stopped
/// by the destructor.
class webhook_stage {
  public:
    explicit webhook_stage(webhook::webhook_options options, std::string connector = "connector",
                           std::string name = "out");
    ~webhook_stage();
    webhook_stage(const webhook_stage&) = delete;
    webhook_stage& operator=(const webhook_stage&) = delete;

    using batches = std::vector<std::shared_ptr<const event::record_batch>>;
    const error::result<void>& started() const { return started_; }
    /// Blocks until the sink is through.
    error::result<void> write(batches what);
    std::future<error::result<void>> begin_write(batches what);
    void cancel();
    /// Gives how long it took. Once.
    std::chrono::steady_clock::duration stop();
    sink::state status();

    std::vector<std::uint64_t> acknowledged() const;
    const log_capture& log() const { return *log_; }

  private:
    mutable std::mutex mutex_;
    std::vector<std::uint64_t> acknowledged_;
    std::shared_ptr<log_capture> log_ = log_capture::make();
    std::unique_ptr<webhook::webhook_sink> sink_;
    runtime::reactor reactor_{"webhook-stage"};
    runtime::blocking_pool blocking_{1}; // its threads still refer to the reactor for a moment
    error::result<void> started_;
    bool stopped_ = false;
};

} // namespace cdc::test
