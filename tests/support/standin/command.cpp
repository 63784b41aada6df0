// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/command.hpp"

#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

[[noreturn]] void wrong_type(const command_call& call, const bson::cursor& c,
                             std::string_view expected) {
    throw server_error(code::type_mismatch, "BSON field '" + call.name + "." +
                                                std::string(c.name()) + "' is the wrong type '" +
                                                std::string(type_name(c.kind())) +
                                                "', expected type '" + std::string(expected) + "'");
}

} // namespace

std::string command_call::text(std::string_view n) const {
    const auto c = field(n);
    if (!c)
        throw server_error(40414, "BSON field '" + name + "." + std::string(n) +
                                      "' is missing but a required field");
    if (c->kind() != bson::type::string)
        wrong_type(*this, *c, "string");
    return std::string(c->as_string());
}

std::optional<std::int64_t> command_call::number(std::string_view n) const {
    const auto c = field(n);
    if (!c)
        return std::nullopt;
    const auto v = c->as_integer();
    if (!v)
        wrong_type(*this, *c, "long");
    return v;
}

bool command_call::flag(std::string_view n, bool otherwise) const {
    const auto c = field(n);
    return c ? c->truthy() : otherwise;
}

bson::view command_call::document(std::string_view n) const {
    const auto c = field(n);
    if (!c)
        return {};
    if (c->kind() != bson::type::document)
        wrong_type(*this, *c, "object");
    return c->as_document();
}

bson::view command_call::array(std::string_view n) const {
    const auto c = field(n);
    if (!c)
        return {};
    if (c->kind() != bson::type::array)
        wrong_type(*this, *c, "array");
    return c->as_document();
}

bool command_call::has_user_for(bool (user_table::*right)(const std::string&, const std::string&)
                                    const,
                                const std::string& on) const {
    return connection.trusted || !server.users.enabled() ||
           (server.users.*right)(connection.user, on);
}

void require_admin(const command_call& call) {
    if (call.db != "admin")
        throw server_error(code::unauthorized,
                           call.name + " may only be run against the admin database.");
    if (!call.has_user_for(&user_table::may_write, "admin"))
        throw_unauthorized(call);
}

void throw_unauthorized(const command_call& call) {
    throw server_error(code::unauthorized, "not authorized on " + call.db + " to execute command " +
                                               describe(call.body));
}

void reply_with_cursor(command_call& call, bson::builder& reply, const std::shared_ptr<cursor>& c,
                       std::size_t batch_size, bool single_batch) {
    batch out(batch_size);
    if (batch_size > 0)
        c->fill(out);
    bson::builder docs;
    for (const auto& doc : out.documents())
        docs.document(std::to_string(docs.count()), doc);
    if (!c->exhausted() && !single_batch) {
        c->session = call.session;
        c->user = call.connection.user;
        call.self.cursors.open(c);
    }
    bson::builder b;
    b.array("firstBatch", docs.finish());
    const bson::document position = c->position();
    if (!position.view().empty())
        b.document("postBatchResumeToken", position);
    b.int64("id", c->id).string("ns", c->ns);
    reply.document("cursor", b.finish());
}

const std::map<std::string, command_spec>& command_table() {
    static const auto table = [] {
        std::map<std::string, command_spec> out;
        register_hello(out);
        register_auth(out);
        register_session(out);
        register_catalog(out);
        register_query(out);
        register_aggregate(out);
        register_write(out);
        register_find_and_modify(out);
        register_fail_point(out);
        register_replication(out);
        register_own(out);
        return out;
    }();
    return table;
}

} // namespace cdc::test::standin
