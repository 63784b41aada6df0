// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/projection.hpp"
#include "tests/support/standin/server_error.hpp"
#include "tests/support/standin/sort_order.hpp"
#include "tests/support/standin/update.hpp"
#include "tests/support/standin/upsert.hpp"

#include <algorithm>

namespace cdc::test::standin {

namespace {

std::optional<record_id> find_one(const collection* c, const matcher& query,
                                  const sort_order& order) {
    if (c == nullptr)
        return std::nullopt;
    const auto found = c->find(query, order.empty() ? 1 : batch::unlimited);
    if (found.empty())
        return std::nullopt;
    return *std::min_element(found.begin(), found.end(), [&](record_id a, record_id b) {
        return order.before(c->get(a), c->get(b));
    });
}

void append_value(const command_call& call, bson::builder& reply, std::optional<bson::document> v) {
    const projection fields(call.document("fields"));
    if (!v)
        reply.null("value");
    else if (fields.empty())
        reply.document("value", *v);
    else
        reply.document("value", fields.apply(*v));
}

void run_find_and_modify(command_call& call, bson::builder& reply) {
    const std::string coll = call.text(call.name);
    const bool remove = call.flag("remove");
    const bool give_new = call.flag("new");
    const auto u = call.field("update");
    if (remove && (u || give_new || call.flag("upsert")))
        throw server_error(code::failed_to_parse, "Cannot specify both an update and remove=true");
    if (!remove && !u)
        throw server_error(code::failed_to_parse,
                           "Either an update or remove=true must be specified");
    const matcher query = matcher::compile(call.document("query"));
    const sort_order order(call.document("sort"));
    storage& data = call.server.data;
    collection* c = data.find(call.db, coll);
    const auto record = find_one(c, query, order);
    std::optional<bson::document> before;
    if (record)
        before = bson::document::copy_of(c->get(*record));

    bson::builder last;
    if (remove) {
        if (record)
            data.remove(*c, *record);
        reply.document("lastErrorObject", last.int32("n", record ? 1 : 0).finish());
        append_value(call, reply, std::move(before));
        return;
    }
    const update compiled = update::compile(*u);
    if (record) {
        data.apply(*c, *record, compiled);
        last.int32("n", 1).boolean("updatedExisting", true);
        reply.document("lastErrorObject", last.finish());
        append_value(call, reply,
                     give_new ? bson::document::copy_of(c->get(*record)) : std::move(before));
        return;
    }
    if (!call.flag("upsert")) {
        last.int32("n", 0).boolean("updatedExisting", false);
        reply.document("lastErrorObject", last.finish());
        append_value(call, reply, std::nullopt);
        return;
    }
    bson::document made = upsert(data, call.db, coll, query, compiled);
    last.int32("n", 1)
        .boolean("updatedExisting", false)
        .value("upserted", *bson::find(made, "_id"));
    reply.document("lastErrorObject", last.finish());
    if (give_new)
        append_value(call, reply, std::move(made));
    else
        append_value(call, reply, std::nullopt);
}

} // namespace

void register_find_and_modify(std::map<std::string, command_spec>& table) {
    table["findAndModify"] = {access::write,
                              run_find_and_modify,
                              nullptr,
                              {"query", "sort", "remove", "update", "new", "fields", "upsert",
                               "bypassDocumentValidation", "hint"},
                              true};
    table["findandmodify"] = table["findAndModify"];
}

} // namespace cdc::test::standin
