// SPDX-License-Identifier: Apache-2.0
// Commands that only the stand-in has, for tests of processes: faults, and what was served. All of
// them on the admin database, with the rights of a writer there.
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/server_error.hpp"
#include "tests/support/wire/wire_server.hpp"

namespace cdc::test::standin {

namespace {

std::int64_t not_negative(const command_call& call, std::string_view field) {
    const std::int64_t n = call.number(field).value_or(0);
    if (n < 0)
        throw server_error(code::bad_value, std::string(field) + " must not be negative");
    return n;
}

member_state& named(const command_call& call) {
    const auto& all = call.server.members.all();
    const auto index = static_cast<std::size_t>(not_negative(call, call.name));
    if (index >= all.size())
        throw server_error(code::bad_value, "there is no such member");
    return *all[index];
}

/// {standInTrimOplog: n}: keeps the newest n entries.
void run_trim(command_call& call, bson::builder& reply) {
    require_admin(call);
    call.server.data.history().keep_last(static_cast<std::size_t>(not_negative(call, call.name)));
    reply.timestamp("oldest", call.server.data.history().oldest());
    call.server.wake_all();
}

/// {standInKillCursors: 1}: all cursors of this member.
void run_kill_cursors(command_call& call, bson::builder& reply) {
    require_admin(call);
    reply.int32("killed", static_cast<std::int32_t>(call.self.cursors.kill_all()));
    call.server.wake_all();
}

/// {standInDropConnections: 1}: resets all connections of this member, this one too.
void run_drop(command_call& call, bson::builder&) {
    require_admin(call);
    call.connection.cut = true;
    call.self.server->drop_connections();
}

/// {standInRestart: ms, orderly: false}: this member goes, and is back after so long, with its
/// data. Not answered: the connection ends.
void run_restart(command_call& call, bson::builder&) {
    require_admin(call);
    const std::chrono::milliseconds pause(not_negative(call, call.name));
    call.connection.cut = true;
    call.server.stop(call.self, call.flag("orderly"), [&s = call.server, &m = call.self, pause] {
        s.after(pause, [&s, &m] { s.start(m); });
    });
}

/// {standInStop: member, orderly: false}; answered when the member is not the one that was asked.
void run_stop(command_call& call, bson::builder&) {
    require_admin(call);
    member_state& m = named(call);
    call.connection.cut = &m == &call.self;
    call.server.stop(m, call.flag("orderly"), nullptr);
}

/// {standInStart: member}
void run_start(command_call& call, bson::builder&) {
    require_admin(call);
    call.server.start(named(call));
}

/// {standInMembers: 1}: state and counts of every member.
void run_members(command_call& call, bson::builder& reply) {
    require_admin(call);
    bson::builder list;
    for (const auto& m : call.server.members.all()) {
        bson::builder served;
        for (const auto& [name, n] : m->served) {
            bson::builder b;
            b.int64("asPrimary", static_cast<std::int64_t>(n.as_primary));
            b.int64("asSecondary", static_cast<std::int64_t>(n.as_secondary));
            served.document(name, b.finish());
        }
        bson::builder b;
        b.string("host", m->host);
        b.string("state", !m->up ? "down" : m->primary ? "primary" : "secondary");
        b.int64("connections", static_cast<std::int64_t>(m->server->open_connections()));
        b.int64("accepted", static_cast<std::int64_t>(m->server->accepted()));
        b.int64("cursors", static_cast<std::int64_t>(m->cursors.size()));
        b.document("served", served.finish());
        list.document(std::to_string(list.count()), b.finish());
    }
    reply.array("members", list.finish());
}

} // namespace

void register_own(std::map<std::string, command_spec>& table) {
    const auto add = [&](const char* name, void (*run)(command_call&, bson::builder&),
                         std::set<std::string_view> fields = {}) {
        table[name] = {access::authenticated, run, nullptr, std::move(fields), false};
    };
    add("standInTrimOplog", run_trim);
    add("standInKillCursors", run_kill_cursors);
    add("standInDropConnections", run_drop);
    add("standInRestart", run_restart, {"orderly"});
    add("standInStop", run_stop, {"orderly"});
    add("standInStart", run_start);
    add("standInMembers", run_members);
}

} // namespace cdc::test::standin
