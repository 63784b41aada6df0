// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"
#include "core/error/result.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace cdc::mongodb::streaming {

/// Questions about how far back the history of the connected server reaches. Borrows its runner;
/// one call at a time, and only while the runner runs no other command.
class oplog_history {
  public:
    oplog_history(cursor::command_runner& runner, cursor::stream_target target)
        : runner_(runner)
        , target_(std::move(target)) {}

    /// Succeeds when the oplog still holds what happened at `since`: opens a second stream there
    /// (startAtOperationTime, no filter) and closes it behind its first getMore. Ends at once for
    /// the time of an event of the target, else within half a second of waiting on the server.
    /// Errors: those of a command; server code 286 when it does not.
    boost::asio::awaitable<error::result<void>> reaches_back_to(bson::timestamp since);

    struct window {
        bson::timestamp oldest;
        bson::timestamp newest;
        /// It begins with the set's very first entry: nothing has left it yet.
        bool complete = false;
    };
    /// The times of the first and the last entry of local.oplog.rs. Reads one entry at each end.
    /// Errors: those of a command (server code 13 where the user may not read it), protocol.
    boost::asio::awaitable<error::result<window>> whole();

    struct first_entry {
        bson::timestamp ts;
        bool of_new_set = false; ///< the set's very first entry
    };
    /// The first entry alone. Errors as `whole`.
    boost::asio::awaitable<error::result<first_entry>> oldest();

  private:
    boost::asio::awaitable<error::result<first_entry>> end(std::int32_t direction);

    cursor::command_runner& runner_;
    cursor::stream_target target_;
};

/// "2026-11-30T07:42:11Z"
std::string to_second(bson::timestamp t);
/// "2026-11-30T07:42:11Z (timestamp 1796020675, 10)"
std::string in_words(bson::timestamp t);
/// "oldest entry …, newest …", or that both are unknown (the user may not read the oplog).
std::string in_words(const std::optional<oplog_history::window>& oplog);

} // namespace cdc::mongodb::streaming
