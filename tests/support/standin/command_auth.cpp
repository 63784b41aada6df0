// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/sasl.hpp"
#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

constexpr std::int32_t conversation_id = 1;

std::string payload_of(bson::view body) {
    const auto p = bson::find(body, "payload");
    if (!p || p->kind() != bson::type::binary)
        throw server_error(code::bad_value, "sasl: no payload");
    const auto bytes = p->as_binary().bytes;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void step(command_call& call, const std::string& message, bson::builder& reply) {
    connection_info& c = call.connection;
    std::string answer;
    try {
        answer = c.scram->step(message);
    } catch (const server_error&) {
        c.scram.reset();
        throw;
    }
    reply.int32("conversationId", conversation_id).boolean("done", c.scram->done());
    reply.binary("payload", 0,
                 {reinterpret_cast<const std::uint8_t*>(answer.data()), answer.size()});
    if (c.scram->done()) {
        c.user = user_table::full_name(c.scram_db, c.scram->user());
        c.scram.reset();
    }
}

void start(command_call& call, bson::view body, const std::string& db, bson::builder& reply) {
    const auto mechanism = bson::find(body, "mechanism");
    if (!mechanism || mechanism->kind() != bson::type::string ||
        mechanism->as_string() != "SCRAM-SHA-256")
        throw server_error(334, "Unsupported mechanism");
    const user_table& users = call.server.users;
    const auto skip = bson::find_path(body, "options.skipEmptyExchange");
    call.connection.scram_db = db;
    call.connection.scram.emplace(
        [&users, db](const std::string& name) {
            return users.credentials(user_table::full_name(db, name));
        },
        skip && skip->truthy());
    step(call, payload_of(body), reply);
}

void run_sasl_start(command_call& call, bson::builder& reply) {
    start(call, call.body, call.db, reply);
}

void run_sasl_continue(command_call& call, bson::builder& reply) {
    if (!call.connection.scram)
        throw server_error(17, "No SASL session state found");
    if (call.number("conversationId") != conversation_id)
        throw server_error(17, "sasl: Mismatched conversation id");
    step(call, payload_of(call.body), reply);
}

void run_logout(command_call& call, bson::builder&) {
    call.connection.user.clear();
}

} // namespace

void speculative_sasl_start(command_call& call, bson::view body, bson::builder& reply) {
    const auto db = bson::find(body, "db");
    bson::builder b;
    try {
        start(call, body,
              db && db->kind() == bson::type::string ? std::string(db->as_string()) : "", b);
    } catch (const server_error&) {
        return;
    }
    reply.document("speculativeAuthenticate", b.finish());
}

void register_auth(std::map<std::string, command_spec>& table) {
    table["saslStart"] = {access::open,
                          run_sasl_start,
                          nullptr,
                          {"mechanism", "payload", "options", "autoAuthorize", "db"},
                          false};
    table["saslContinue"] = {
        access::open, run_sasl_continue, nullptr, {"conversationId", "payload"}, false};
    table["logout"] = {access::open, run_logout, nullptr, {}, false};
}

} // namespace cdc::test::standin
