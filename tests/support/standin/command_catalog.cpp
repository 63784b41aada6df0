// SPDX-License-Identifier: Apache-2.0
// Databases and collections: listing, making, renaming and dropping them.
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

bool may_list(const command_call& call, const std::string& db) {
    if (call.connection.trusted || !call.server.users.enabled())
        return true;
    return call.server.users.may_list_databases(call.connection.user) ||
           call.server.users.may_read(call.connection.user, db);
}

void run_list_databases(command_call& call, bson::builder& reply) {
    if (call.db != "admin")
        throw server_error(code::unauthorized,
                           "listDatabases may only be run against the admin database.");
    const bool names_only = call.flag("nameOnly");
    const matcher filter = matcher::compile(call.document("filter"));
    std::map<std::string, double> sizes = {{"admin", 81920}, {"config", 16384}, {"local", 81920}};
    for (const auto& [name, db] : call.server.data.databases()) {
        double size = 8192.0 * static_cast<double>(db.size());
        for (const auto& [coll, c] : db)
            size += static_cast<double>(c->bytes());
        sizes[name] = size;
    }
    bson::builder list;
    double total = 0;
    for (const auto& [name, size] : sizes) {
        if (!may_list(call, name))
            continue;
        bson::builder b;
        b.string("name", name);
        if (!names_only)
            b.float64("sizeOnDisk", size).boolean("empty", false);
        const bson::document doc = b.finish();
        if (!filter.matches(doc))
            continue;
        total += size;
        list.document(std::to_string(list.count()), doc);
    }
    reply.array("databases", list.finish());
    if (!names_only)
        reply.float64("totalSize", total);
}

bson::document describe_collection(const collection& c, bool name_only) {
    bson::builder b;
    b.string("name", c.name()).string("type", "collection");
    if (name_only)
        return b.finish();
    b.document("options", bson::view());
    bson::builder info;
    info.boolean("readOnly", false).binary("uuid", 4, c.id());
    b.document("info", info.finish());
    bson::builder key;
    key.int32("_id", 1);
    bson::builder index;
    index.int32("v", 2).document("key", key.finish()).string("name", "_id_");
    b.document("idIndex", index.finish());
    return b.finish();
}

void run_list_collections(command_call& call, bson::builder& reply) {
    const matcher filter = matcher::compile(call.document("filter"));
    bson::builder list;
    const auto& databases = call.server.data.databases();
    if (const auto at = databases.find(call.db); at != databases.end())
        for (const auto& [name, c] : at->second)
            if (filter.matches(describe_collection(*c, false)))
                list.document(std::to_string(list.count()),
                              describe_collection(*c, call.flag("nameOnly")));
    bson::builder b;
    b.int64("id", 0)
        .string("ns", call.db + ".$cmd.listCollections")
        .array("firstBatch", list.finish());
    reply.document("cursor", b.finish());
}

void run_create(command_call& call, bson::builder&) {
    const std::string name = call.text(call.name);
    if (call.server.data.find(call.db, name) != nullptr)
        throw server_error(code::namespace_exists,
                           "Collection already exists. NS: " + call.db + "." + name);
    if (call.field("viewOn")) {
        bson::builder view;
        view.string("_id", call.db + "." + name).string("viewOn", call.text("viewOn"));
        view.array("pipeline", call.array("pipeline"));
        call.server.data.insert(call.server.data.require(call.db, "system.views"), view.finish());
        return;
    }
    bson::builder options;
    if (call.flag("capped")) {
        options.boolean("capped", true);
        options.int32("size", static_cast<std::int32_t>(call.number("size").value_or(4096)));
    }
    call.server.data.require(call.db, name, options.finish());
}

void run_create_indexes(command_call& call, bson::builder& reply) {
    const std::string name = call.text(call.name);
    const bool fresh = call.server.data.find(call.db, name) == nullptr;
    const collection& c = call.server.data.require(call.db, name);
    std::int32_t count = 0;
    for (bson::cursor i{call.array("indexes")}; i.next(); ++count) {
        if (i.kind() != bson::type::document)
            throw server_error(code::type_mismatch, "an index must be a document");
        const auto unique = bson::find(i.as_document(), "unique");
        if (unique && unique->truthy())
            throw server_error(code::bad_value, "this stand-in has no unique indexes");
        bson::builder index;
        index.int32("v", 2).append_all(i.as_document());
        call.server.data.build_index(c, index.finish());
    }
    reply.boolean("createdCollectionAutomatically", fresh)
        .int32("numIndexesBefore", 1)
        .int32("numIndexesAfter", 1 + count)
        .string("commitQuorum", "votingMembers");
}

void run_drop(command_call& call, bson::builder& reply) {
    const std::string name = call.text(call.name);
    collection* c = call.server.data.find(call.db, name);
    if (c == nullptr)
        throw server_error(code::namespace_not_found, "ns not found");
    call.server.data.drop(*c);
    reply.int32("nIndexesWas", 1).string("ns", call.db + "." + name);
}

void run_drop_database(command_call& call, bson::builder& reply) {
    if (call.server.data.databases().contains(call.db))
        reply.string("dropped", call.db);
    call.server.data.drop_database(call.db);
}

std::pair<std::string, std::string> split_namespace(const std::string& ns) {
    const std::size_t dot = ns.find('.');
    if (dot == 0 || dot == std::string::npos || dot + 1 == ns.size())
        throw server_error(code::invalid_namespace, "Invalid namespace specified '" + ns + "'");
    return {ns.substr(0, dot), ns.substr(dot + 1)};
}

void run_rename(command_call& call, bson::builder&) {
    if (call.db != "admin")
        throw server_error(code::unauthorized,
                           "renameCollection may only be run against the admin database.");
    const auto [db, name] = split_namespace(call.text(call.name));
    const auto [to_db, to_name] = split_namespace(call.text("to"));
    if (!call.has_user_for(&user_table::may_write, db) ||
        !call.has_user_for(&user_table::may_write, to_db))
        throw_unauthorized(call);
    collection* c = call.server.data.find(db, name);
    if (c == nullptr)
        throw server_error(code::namespace_not_found,
                           "Source collection " + db + "." + name + " does not exist");
    if (db != to_db)
        throw server_error(code::bad_value, "this stand-in renames within a database only");
    call.server.data.rename(*c, to_db, to_name, call.flag("dropTarget"));
}

} // namespace

void register_catalog(std::map<std::string, command_spec>& table) {
    table["listDatabases"] = {access::authenticated,
                              run_list_databases,
                              nullptr,
                              {"filter", "nameOnly", "authorizedDatabases"},
                              false};
    table["listCollections"] = {access::read,
                                run_list_collections,
                                nullptr,
                                {"filter", "nameOnly", "authorizedCollections", "cursor"},
                                false};
    table["create"] = {
        access::write, run_create, nullptr, {"capped", "size", "viewOn", "pipeline"}, false};
    table["createIndexes"] = {
        access::write, run_create_indexes, nullptr, {"indexes", "commitQuorum"}, false};
    table["drop"] = {access::write, run_drop, nullptr, {}, false};
    table["dropDatabase"] = {access::write, run_drop_database, nullptr, {}, false};
    table["renameCollection"] = {
        access::authenticated, run_rename, nullptr, {"to", "dropTarget"}, false};
}

} // namespace cdc::test::standin
