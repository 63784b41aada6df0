// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/old_session.hpp"

#include "core/bson/builder.hpp"

#include <algorithm>
#include <utility>

namespace cdc::mongodb::streaming {

std::optional<cursor::database_command>
old_session::on_connected(const client::server_description& server) {
    const auto before = std::exchange(session_, server.session.clone());
    const bool same_member = std::exchange(host_, server.host) == server.host;
    // After an error that broke no connection the driver may take its session again.
    if (!same_member || before.view().empty() ||
        std::ranges::equal(before.view().bytes(), session_.view().bytes()))
        return std::nullopt;
    return kill(before);
}

cursor::database_command old_session::kill(bson::view session) {
    bson::builder list;
    list.document("0", session);
    const auto sessions = list.finish();
    bson::builder b;
    b.array("killSessions", sessions);
    return {"admin", b.finish()};
}

} // namespace cdc::mongodb::streaming
