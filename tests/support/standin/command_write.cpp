// SPDX-License-Identifier: Apache-2.0
// insert, update, delete.
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/server_error.hpp"
#include "tests/support/standin/update.hpp"
#include "tests/support/standin/upsert.hpp"

namespace cdc::test::standin {

namespace {

/// Runs one statement after another and collects what they did, as the three commands answer.
class statements {
  public:
    explicit statements(command_call& call)
        : call_(call)
        , ordered_(call.flag("ordered", true)) {}

    template <class Run>
    void run(bson::view list, Run run_one) {
        if (list.empty())
            throw server_error(code::invalid_length,
                               "Write batch sizes must be between 1 and 100000. Got 0 operations.");
        for (bson::cursor s{list}; s.next(); ++index_) {
            if (s.kind() != bson::type::document)
                throw server_error(code::type_mismatch, "a write statement must be an object");
            try {
                run_one(s.as_document());
            } catch (const server_error& e) {
                add_error(e);
                if (ordered_)
                    return;
            }
        }
    }

    std::int32_t n = 0;
    std::int32_t modified = 0;
    bson::builder upserted;
    std::int32_t index() const noexcept { return index_; }

    void reply(bson::builder& b, bool is_update) {
        b.int32("n", n);
        if (is_update) {
            b.int32("nModified", modified);
            if (upserted.count() != 0)
                b.array("upserted", upserted.finish());
        }
        if (errors_.count() != 0)
            b.array("writeErrors", errors_.finish());
        const server_state& s = call_.server;
        if (s.standalone())
            return;
        b.document("opTime", op_time(s.data.history()));
        b.oid("electionId", s.members.election_id());
    }

  private:
    void add_error(const server_error& e) {
        bson::builder b;
        b.int32("index", index_).int32("code", e.code);
        if (e.extra)
            b.append_all(*e.extra);
        b.string("errmsg", e.what());
        errors_.document(std::to_string(errors_.count()), b.finish());
    }

    command_call& call_;
    bool ordered_;
    std::int32_t index_ = 0;
    bson::builder errors_;
};

void refuse_unknown(bson::view statement, std::string_view name,
                    std::initializer_list<std::string_view> known) {
    for (bson::cursor c{statement}; c.next();)
        if (std::ranges::find(known, c.name()) == known.end())
            throw server_error(code::unknown_field, "BSON field '" + std::string(name) + "." +
                                                        std::string(c.name()) +
                                                        "' is an unknown field.");
}

bson::cursor required(bson::view statement, std::string_view command, std::string_view name) {
    const auto c = bson::find(statement, name);
    if (!c)
        throw server_error(40414, "BSON field '" + std::string(command) + "." + std::string(name) +
                                      "' is missing but a required field");
    return *c;
}

bson::view query_of(bson::view statement, std::string_view command) {
    const auto q = required(statement, command, "q");
    if (q.kind() != bson::type::document)
        throw server_error(code::type_mismatch,
                           "BSON field '" + std::string(command) + ".q' is the wrong type '" +
                               std::string(type_name(q.kind())) + "', expected type 'object'");
    return q.as_document();
}

void run_insert(command_call& call, bson::builder& reply) {
    const std::string coll = call.text(call.name);
    statements all(call);
    all.run(call.array("documents"), [&](bson::view doc) {
        const bson::document checked = with_id_first(doc); // before a collection is made for it
        call.server.data.insert(call.server.data.require(call.db, coll), checked);
        ++all.n;
    });
    all.reply(reply, false);
}

void run_update_statement(command_call& call, const std::string& coll, bson::view s,
                          statements& all) {
    refuse_unknown(s, "update.updates", {"q", "u", "multi", "upsert", "hint"});
    const matcher query = matcher::compile(query_of(s, "update.updates"));
    const update u = update::compile(required(s, "update.updates", "u"));
    const auto flag = [&](std::string_view name) {
        const auto c = bson::find(s, name);
        return c && c->truthy();
    };
    const bool multi = flag("multi");
    if (multi && u.is_replacement())
        throw server_error(code::failed_to_parse,
                           "multi update is not supported for replacement-style update");
    storage& data = call.server.data;
    collection* c = data.find(call.db, coll);
    std::vector<record_id> found;
    if (c != nullptr)
        found = c->find(query, multi ? batch::unlimited : 1);
    for (const record_id r : found) {
        all.modified += data.apply(*c, r, u) ? 1 : 0;
        ++all.n;
    }
    if (!found.empty() || !flag("upsert"))
        return;
    const bson::document made = upsert(data, call.db, coll, query, u);
    ++all.n;
    bson::builder b;
    b.int32("index", all.index()).value("_id", *bson::find(made, "_id"));
    all.upserted.document(std::to_string(all.upserted.count()), b.finish());
}

void run_update(command_call& call, bson::builder& reply) {
    const std::string coll = call.text(call.name);
    statements all(call);
    all.run(call.array("updates"), [&](bson::view s) { run_update_statement(call, coll, s, all); });
    all.reply(reply, true);
}

void run_delete(command_call& call, bson::builder& reply) {
    const std::string coll = call.text(call.name);
    statements all(call);
    all.run(call.array("deletes"), [&](bson::view s) {
        refuse_unknown(s, "delete.deletes", {"q", "limit", "hint"});
        const matcher query = matcher::compile(query_of(s, "delete.deletes"));
        const auto limit = required(s, "delete.deletes", "limit").as_integer();
        if (limit != 0 && limit != 1)
            throw server_error(code::failed_to_parse,
                               "The limit field in delete objects must be 0 or 1. Got " +
                                   describe(required(s, "delete.deletes", "limit")));
        collection* c = call.server.data.find(call.db, coll);
        if (c == nullptr)
            return;
        for (const record_id r : c->find(query, limit == 1 ? 1 : batch::unlimited)) {
            call.server.data.remove(*c, r);
            ++all.n;
        }
    });
    all.reply(reply, false);
}

} // namespace

void register_write(std::map<std::string, command_spec>& table) {
    table["insert"] = {access::write,
                       run_insert,
                       nullptr,
                       {"documents", "ordered", "bypassDocumentValidation"},
                       true};
    table["update"] = {access::write,
                       run_update,
                       nullptr,
                       {"updates", "ordered", "bypassDocumentValidation"},
                       true};
    table["delete"] = {access::write, run_delete, nullptr, {"deletes", "ordered"}, true};
}

} // namespace cdc::test::standin
