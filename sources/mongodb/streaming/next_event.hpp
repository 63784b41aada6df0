// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/position.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace cdc::mongodb::streaming {

/// An event without its documents.
struct event_outline {
    std::string operation_type;
    std::string db;
    std::string collection; ///< empty for an event of a database
    event::position position;

    /// "update of shop.orders (resume token 82…)"
    std::string describe() const;
};

/// The first event that the stream of `target` and `f` gives when it is opened at `at`, read
/// through a $project that leaves all documents on the server: an event that is too large to be
/// sent can be found out about so. Opens a cursor of its own on the connection and kills it; runs
/// while the runner runs no other command. Errors: those of a command, protocol when no event came
/// in a few reads.
boost::asio::awaitable<error::result<event_outline>> find_next_event(cursor::command_runner& runner,
                                                                     cursor::stream_target target,
                                                                     cursor::open_at at,
                                                                     const filters& f);

} // namespace cdc::mongodb::streaming
