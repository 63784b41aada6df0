// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

void run_start(command_call&, bson::builder& reply) {
    bson::builder id;
    id.binary("id", 4, random_uuid());
    reply.document("id", id.finish()).int32("timeoutMinutes", 30);
}

/// Ending and refreshing change nothing here: sessions are not counted, only cursors belong to
/// them.
void run_nothing(command_call&, bson::builder&) {}

void run_kill(command_call& call, bson::builder&) {
    for (bson::cursor s{call.array(call.name)}; s.next();) {
        const auto id =
            s.kind() == bson::type::document ? bson::find(s.as_document(), "id") : std::nullopt;
        if (!id || id->kind() != bson::type::binary)
            throw server_error(
                40414, "BSON field 'KillAllSessionsByPattern.id' is missing but a required field");
        const auto bytes = id->as_binary().bytes;
        call.self.cursors.kill_session({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    call.server.wake_all();
}

/// No pattern: every session of everybody.
void run_kill_all(command_call& call, bson::builder&) {
    const bson::view patterns = call.array(call.name);
    if (patterns.empty())
        call.self.cursors.kill_all_sessions();
    for (bson::cursor p{patterns}; p.next();) {
        const auto part = [&](std::string_view field) {
            const auto c = p.kind() == bson::type::document ? bson::find(p.as_document(), field)
                                                            : std::nullopt;
            if (!c || c->kind() != bson::type::string)
                throw server_error(40414, "BSON field 'KillAllSessionsUser." + std::string(field) +
                                              "' is missing but a required field");
            return std::string(c->as_string());
        };
        call.self.cursors.kill_sessions_of(user_table::full_name(part("db"), part("user")));
    }
    call.server.wake_all();
}

} // namespace

void register_session(std::map<std::string, command_spec>& table) {
    table["startSession"] = {access::authenticated, run_start, nullptr, {}, false};
    table["endSessions"] = {access::open, run_nothing, nullptr, {}, false};
    table["refreshSessions"] = {access::authenticated, run_nothing, nullptr, {}, false};
    table["killAllSessions"] = {access::authenticated, run_kill_all, nullptr, {}, false};
    table["killSessions"] = {access::authenticated, run_kill, nullptr, {}, false};
}

} // namespace cdc::test::standin
