// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "core/log/logger.hpp"
#include "core/pipeline/retry_policy.hpp"
#include "core/runtime/task_group.hpp"
#include "core/runtime/wake_slot.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"
#include "sources/mongodb/streaming/primary_judge.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace cdc::mongodb::streaming {

/// Tells a reader when the member it reads from is no longer the primary. Needed because a server
/// that steps down lets a waiting getMore wait on, and the cursor goes on working.
///
/// Asks on a second connection (primary_judge says how), one question per `interval` while nothing
/// changes. When that connection breaks it looks for the set's primary again, with backoff: the
/// same one means that all is well, another one is reported, none at all is not (the reader has a
/// connection of its own to judge by).
///
/// Lives on one reactor. `cancel` ends everything within milliseconds; `stop` must have been
/// awaited before destruction.
class primary_watch {
  public:
    struct settings {
        std::chrono::milliseconds interval{10000};
        /// `first` must not be below 500 ms with a real client (see client::client).
        pipeline::retry_policy::limits backoff{};
        std::uint64_t seed = 0; ///< of the backoff's jitter
    };

    /// `runner` must give a call up after some time longer than the interval.
    primary_watch(boost::asio::any_io_executor reactor,
                  std::unique_ptr<cursor::command_runner> runner, settings s, log::logger logger);
    ~primary_watch();

    /// Called once for each `watch` at most, when `moved` becomes true.
    void on_moved(std::function<void()> call) { on_moved_ = std::move(call); }

    /// `server` is read from as the primary, from now on.
    void watch(const client::server_description& server);

    /// The member watched is no longer the one to read from; until `watch` or `leave`.
    bool moved() const noexcept { return moved_.has_value(); }
    /// "db1:27017 is no longer the primary, db2:27017 is". Only while `moved`.
    const std::string& reason() const noexcept { return *moved_; }

    /// The reader has left the member and looks for another. `session`, its session there, is
    /// killed with all cursors of it, when the watch is connected to the member. Best effort.
    void leave(bson::document session);

    void cancel() noexcept;
    boost::asio::awaitable<void> stop();

  private:
    boost::asio::awaitable<void> run();
    boost::asio::awaitable<void> connect();
    boost::asio::awaitable<void> ask();
    boost::asio::awaitable<void> kill_session();
    boost::asio::awaitable<void> rest(std::chrono::milliseconds time);
    void judge(primary_judge::verdict v);
    void disconnect() noexcept;

    std::unique_ptr<cursor::command_runner> runner_;
    log::logger logger_;
    primary_judge judge_;
    pipeline::retry_policy backoff_;
    runtime::task_group tasks_;
    runtime::wake_slot wake_;
    std::function<void()> on_moved_;

    std::string host_;
    std::uint64_t round_ = 0; ///< counts calls of `watch` and `leave`, which end a rest
    std::optional<std::string> moved_;
    std::optional<bson::document> left_;
    bool watching_ = false;
    std::string connected_; ///< to which member; empty: to none
    bool killing_ = false;
    bool started_ = false;
    bool cancelled_ = false;
};

} // namespace cdc::mongodb::streaming
