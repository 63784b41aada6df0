// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"
#include "sources/mongodb/cursor/change_reply.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace cdc::mongodb::cursor {

/// One change stream cursor on the server, read by commands over one connection. Never retries.
/// Lives on the reactor of its runner, which it borrows; one call at a time.
class change_cursor {
  public:
    struct settings {
        std::int32_t batch_size = 0;            ///< of a getMore; 0 leaves it to the server
        std::chrono::milliseconds max_await{0}; ///< a getMore waits so long; 0: server's default
    };

    change_cursor(command_runner& runner, settings s);

    /// Opens a cursor with an aggregate of change_pipeline. Forgets one that was open before
    /// (kill it first when the server may still have it). Errors: those of a command,
    /// protocol.
    boost::asio::awaitable<error::result<change_reply>> open(database_command aggregate);

    /// The next batch, perhaps an empty one. Only while `is_open`. After an error the cursor is not
    /// open any more, but for a reply that cannot be read. Errors: those of a command, protocol.
    /// `at_most`: fewer events than the settings' batch size; 0: as they say.
    boost::asio::awaitable<error::result<change_reply>> get_more(std::int32_t at_most = 0);

    /// Tells the server to drop the cursor. Best effort: errors are swallowed, since a cursor that
    /// is left behind goes away by itself. Does nothing when none is open.
    boost::asio::awaitable<void> kill();

    /// The server has the cursor as far as known here.
    bool is_open() const noexcept { return id_ != 0; }
    /// The connection it was on is gone.
    void forget() noexcept { id_ = 0; }

  private:
    error::result<change_reply> take(error::result<bson::document> reply);

    command_runner& runner_;
    settings settings_;
    std::int64_t id_ = 0;
    std::string db_;
    std::string collection_;
};

} // namespace cdc::mongodb::cursor
