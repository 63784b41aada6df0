// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/dispatcher.hpp"

#include "tests/support/standin/command.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/error_labels.hpp"
#include "tests/support/standin/server_error.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>

namespace cdc::test::standin {

namespace {

/// What every command may carry. Read and write concerns are taken as given: every write is there
/// at once, on all members.
bool is_general_field(std::string_view name) {
    static const std::set<std::string_view> names = {
        "lsid",        "txnNumber",           "startTransaction", "autocommit",
        "readConcern", "writeConcern",        "maxTimeMS",        "comment",
        "apiVersion",  "apiStrict",           "stmtId",           "stmtIds",
        "help",        "apiDeprecationErrors"};
    return name.starts_with("$") || names.contains(name);
}

const command_spec& find_command(const command_call& call) {
    // The server's names are case sensitive; the few with an old spelling are in the table twice.
    const auto& table = command_table();
    const auto at = table.find(call.name);
    const bool hello = call.name == "hello";
    if (at == table.end() || (hello && !call.server.has_hello()))
        throw server_error(code::command_not_found, "no such command: '" + call.name + "'");
    return at->second;
}

void check_fields(const command_call& call, const command_spec& spec) {
    bson::cursor c{call.body};
    c.next(); // the command itself
    while (c.next())
        if (!is_general_field(c.name()) && !spec.fields.contains(c.name()))
            throw server_error(code::unknown_field, "BSON field '" + call.name + "." +
                                                        std::string(c.name()) +
                                                        "' is an unknown field.");
}

void check_access(const command_call& call, const command_spec& spec) {
    if (call.connection.trusted || !call.server.users.enabled() || spec.need == access::open)
        return;
    if (call.connection.user.empty())
        throw server_error(code::unauthorized, "command " + call.name + " requires authentication");
    if (spec.need == access::read && !call.has_user_for(&user_table::may_read, call.db))
        throw_unauthorized(call);
    if (spec.need == access::write && !call.has_user_for(&user_table::may_write, call.db))
        throw_unauthorized(call);
}

/// Writes need the primary; reads do, too, unless the client says that a secondary will do.
void check_role(const command_call& call, const command_spec& spec) {
    if (call.self.primary)
        return;
    const bool old = call.server.major() < 5;
    if (spec.need == access::write || call.name == "renameCollection")
        throw server_error(code::not_primary, old ? "not master" : "not primary");
    const auto preference = bson::find_path(call.body, "$readPreference.mode");
    const bool opted_in = preference && preference->kind() == bson::type::string &&
                          preference->as_string() != "primary";
    if ((spec.need == access::read || call.name == "listDatabases") && !opted_in)
        throw server_error(code::not_primary_no_secondary_ok,
                           old ? "not master and slaveOk=false"
                               : "not primary and secondaryOk=false");
}

void count(const command_call& call) {
    auto& counts = call.self.served[call.name];
    ++(call.self.primary ? counts.as_primary : counts.as_secondary);
}

/// A client's first hello tells its name.
void read_app_name(const command_call& call) {
    const auto name = bson::find_path(call.body, "client.application.name");
    if (name && name->kind() == bson::type::string)
        call.connection.app_name = name->as_string();
}

/// What the fail point does to this command. Tells whether it may be run.
boost::asio::awaitable<bool> suffer(command_call* call, command_fault fault) {
    const auto until = std::chrono::steady_clock::now() + fault.block;
    const auto held_by = call->self.faults.generation();
    const waiting_command waiting(*call);
    while (!call->connection.closed && !call->self.shutting_down) {
        const bool held = fault.hold && call->self.faults.generation() == held_by;
        const auto left = until - std::chrono::steady_clock::now();
        if (!held && left <= left.zero())
            break;
        co_await call->connection.wake.wait_for(held ? std::chrono::hours(1) : left);
    }
    // A command whose client went meanwhile is not run any more.
    call->connection.cut = fault.close_connection || call->connection.closed;
    if (call->connection.cut)
        co_return false;
    if (!fault.error_code)
        co_return true;
    server_error e(*fault.error_code, fault.message.empty()
                                          ? "Failing command due to 'failCommand' failpoint"
                                          : fault.message);
    e.only_these_labels = fault.labels.has_value();
    e.labels = fault.labels.value_or(std::vector<std::string>());
    throw e;
}

void read_session(command_call& call) {
    const auto id = bson::find_path(call.body, "lsid.id");
    if (id && id->kind() == bson::type::binary) {
        const auto bytes = id->as_binary().bytes;
        call.session.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    if (call.field("startTransaction") || call.field("autocommit"))
        throw server_error(code::illegal_operation,
                           "Transaction numbers are only allowed on a replica set member or mongos "
                           "(this stand-in has no transactions)");
    if (call.field("txnNumber") && call.server.standalone())
        throw server_error(
            code::illegal_operation,
            "Transaction numbers are only allowed on a replica set member or mongos");
}

bson::document cluster_time(const server_state& server) {
    const std::array<std::uint8_t, 20> no_hash{};
    bson::builder signature;
    signature.binary("hash", 0, no_hash).int64("keyId", 0);
    bson::builder b;
    const bson::document signed_by = signature.finish();
    b.timestamp("clusterTime", server.data.history().last()).document("signature", signed_by);
    return b.finish();
}

bson::document error_reply(const command_call& call, const server_error& e) {
    const bool set = !call.server.standalone();
    // The answer to a wrong password has its times behind, as the answer to a success.
    const bool times_last = e.code == code::authentication_failed && call.name == "saslContinue";
    bson::builder b;
    const auto all_labels =
        e.labels.empty() && !e.only_these_labels ? error_labels(call, e.code) : e.labels;
    if (!all_labels.empty()) {
        bson::builder labels;
        for (const auto& label : all_labels)
            labels.string(std::to_string(labels.count()), label);
        b.array("errorLabels", labels.finish());
    }
    if (set && tells_topology_version(e.code))
        append_topology_version(call.self, b);
    const auto now = call.server.data.history().last();
    if (set && !times_last)
        b.timestamp("operationTime", now);
    b.float64("ok", 0).string("errmsg", e.what());
    b.int32("code", e.code).string("codeName", code_name(e.code));
    if (e.extra)
        b.append_all(*e.extra);
    if (set)
        b.document("$clusterTime", cluster_time(call.server));
    if (set && times_last)
        b.timestamp("operationTime", now);
    return b.finish();
}

bson::document success_reply(const command_call& call, bson::builder& reply) {
    reply.float64("ok", 1);
    if (!call.server.standalone()) {
        reply.document("$clusterTime", cluster_time(call.server));
        reply.timestamp("operationTime", call.server.data.history().last());
    }
    return reply.finish();
}

/// The remembered reply of a write that was already done.
std::optional<bson::document> repeated(const command_call& call, const command_spec& spec) {
    const auto number = call.number("txnNumber");
    if (!spec.retryable || !number || call.session.empty())
        return std::nullopt;
    const auto at = call.server.retryable_writes.find(call.session);
    if (at == call.server.retryable_writes.end() || at->second.number < *number)
        return std::nullopt;
    if (at->second.number > *number)
        throw server_error(
            code::transaction_too_old,
            "Cannot start transaction " + std::to_string(*number) + " on session " +
                uuid_text({reinterpret_cast<const std::uint8_t*>(call.session.data()),
                           call.session.size()}) +
                " because a newer transaction " + std::to_string(at->second.number) +
                " has already started.");
    return at->second.reply.clone();
}

void remember(const command_call& call, const command_spec& spec, const bson::document& reply) {
    const auto number = call.number("txnNumber");
    if (spec.retryable && number && !call.session.empty())
        call.server.retryable_writes[call.session] = {*number, reply.clone()};
}

} // namespace

boost::asio::awaitable<bson::document> execute(server_state* server, member_state* self,
                                               connection_info* connection, std::string db,
                                               bson::document body) {
    bson::cursor first{body};
    if (!first.next())
        throw std::logic_error("an empty command");
    command_call call{*server, *self, *connection, std::move(db), std::string(first.name()),
                      body,    {}};
    const std::uint64_t history_before = server->data.history().end_index();
    bson::document out;
    ++self->running;
    try {
        const command_spec& spec = find_command(call);
        if (!connection->trusted) {
            count(call);
            read_app_name(call);
            if (auto fault = self->faults.meet(call.name, connection->app_name)) {
                auto suffering = suffer(&call, std::move(*fault));
                const bool go_on = co_await std::move(suffering);
                if (!go_on)
                    throw server_error(50985, "Failing command due to 'failCommand' failpoint");
            }
        }
        if (self->shutting_down || !self->up)
            throw server_error(code::interrupted_at_shutdown, "interrupted at shutdown");
        check_access(call, spec);
        check_fields(call, spec);
        check_role(call, spec);
        read_session(call);
        auto again = repeated(call, spec);
        if (again) {
            out = std::move(*again);
        } else {
            bson::builder reply;
            if (spec.run != nullptr) {
                spec.run(call, reply);
            } else {
                auto waiting = spec.run_waiting(&call, &reply);
                co_await std::move(waiting);
            }
            out = success_reply(call, reply);
            remember(call, spec, out);
        }
    } catch (const server_error& e) {
        out = error_reply(call, e);
    } catch (const std::exception& e) {
        out = error_reply(call, server_error(code::internal_error, e.what()));
    }
    if (server->data.history().end_index() != history_before)
        server->wake_all();
    server->ended_one(*self);
    co_return out;
}

} // namespace cdc::test::standin
