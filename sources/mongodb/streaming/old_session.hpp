// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"
#include "sources/mongodb/client/client.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"

#include <optional>
#include <string>

namespace cdc::mongodb::streaming {

/// Remembers the session of the last connection, so that its cursors do not stay behind on a member
/// when the connection ends in disorder. A cursor belongs to its session (recording cursors_auth),
/// and the reply that would have told its id may be what was lost; so the session is killed, which
/// every user may do with sessions of its own. No I/O; used from one reactor.
class old_session {
  public:
    /// Connected anew. Gives the command that clears up behind an earlier connection to the same
    /// member; nothing when there is nothing to clear up, or it is on another member.
    std::optional<cursor::database_command> on_connected(const client::server_description& server);

    /// The session of the last connection; empty before the first.
    bson::document current() const { return session_.clone(); }

    static cursor::database_command kill(bson::view session);

  private:
    std::string host_;
    bson::document session_;
};

} // namespace cdc::mongodb::streaming
