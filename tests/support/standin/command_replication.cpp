// SPDX-License-Identifier: Apache-2.0
// replSetStepDown, replSetStepUp, replSetGetStatus, shutdown.
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

constexpr std::int64_t step_down_default_s = 60;

void require_set(const command_call& call) {
    require_admin(call);
    if (call.server.standalone())
        throw server_error(code::no_replication_enabled, "not running with --replSet");
}

void run_step_down(command_call& call, bson::builder&) {
    require_set(call);
    std::int64_t seconds = call.number(call.name).value_or(0);
    if (seconds < 0)
        throw server_error(code::bad_value, "stepdown period must be a positive integer");
    if (seconds == 0)
        seconds = step_down_default_s;
    const bool old = call.server.major() < 5;
    if (!call.self.primary)
        throw server_error(code::not_primary, old ? "not master so can't step down"
                                                  : "not primary so can't step down");
    const auto now = membership::clock::now();
    if (!call.flag("force") && !call.server.members.has_successor(call.self, now))
        throw server_error(code::exceeded_time_limit,
                           "No electable secondaries caught up as of this time. Please use the "
                           "replSetStepDown command with the argument {force: true} to force node "
                           "to step down.");
    call.server.members.step_down(call.self, now + std::chrono::seconds(seconds));
    call.server.settle();
}

void run_step_up(command_call& call, bson::builder&) {
    require_set(call);
    if (call.self.primary)
        return;
    if (!call.server.members.majority_up())
        throw server_error(code::command_failed, "Election failed.");
    call.server.elect(call.self);
}

void run_status(command_call& call, bson::builder& reply) {
    require_set(call);
    const server_state& s = call.server;
    constexpr int primary = 1;
    constexpr int secondary = 2;
    constexpr int down = 8;
    const auto state_of = [](const member_state& m) {
        return !m.up ? down : m.primary ? primary : secondary;
    };
    reply.string("set", s.set_name).date_ms("date", s.data.history().now_ms());
    reply.int32("myState", state_of(call.self)).int64("term", s.members.term());
    bson::builder list;
    for (const auto& m : s.members.all()) {
        const int state = state_of(*m);
        bson::builder b;
        b.int32("_id", static_cast<std::int32_t>(m->index)).string("name", m->host);
        b.float64("health", m->up ? 1 : 0).int32("state", state);
        b.string("stateStr", state == primary     ? "PRIMARY"
                             : state == secondary ? "SECONDARY"
                                                  : "(not reachable/healthy)");
        if (m.get() == &call.self)
            b.boolean("self", true);
        list.document(std::to_string(list.count()), b.finish());
    }
    reply.array("members", list.finish());
}

/// The server answers with the end of the connection.
void run_shutdown(command_call& call, bson::builder&) {
    require_admin(call);
    call.connection.cut = true;
    call.server.stop(call.self, true, nullptr);
}

} // namespace

void register_replication(std::map<std::string, command_spec>& table) {
    table["replSetStepDown"] = {access::authenticated,
                                run_step_down,
                                nullptr,
                                {"force", "secondaryCatchUpPeriodSecs"},
                                false};
    table["replSetStepUp"] = {access::authenticated, run_step_up, nullptr, {}, false};
    table["replSetGetStatus"] = {access::authenticated, run_status, nullptr, {}, false};
    table["shutdown"] = {
        access::authenticated, run_shutdown, nullptr, {"force", "timeoutSecs"}, false};
}

} // namespace cdc::test::standin
