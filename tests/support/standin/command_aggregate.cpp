// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/change_stream.hpp"
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/pipeline.hpp"
#include "tests/support/standin/server_error.hpp"

namespace cdc::test::standin {

namespace {

constexpr std::size_t first_batch_default = 101;

std::size_t first_batch_size(const command_call& call) {
    if (!call.field("cursor"))
        throw server_error(
            code::failed_to_parse,
            "The 'cursor' option is required, except for aggregate with the explain argument");
    const bson::view options = call.document("cursor");
    std::size_t out = first_batch_default;
    for (bson::cursor c{options}; c.next();) {
        const auto n = c.as_integer();
        if (c.name() != "batchSize")
            throw server_error(code::bad_value,
                               "cursor object can't contain fields other than batchSize");
        if (!n || *n < 0)
            throw server_error(code::bad_value, "cursor.batchSize must not be negative");
        out = static_cast<std::size_t>(*n);
    }
    return out;
}

/// The $changeStream stage, when the pipeline begins with one.
std::optional<bson::cursor> change_stream_stage(bson::view stages) {
    bson::cursor first{stages};
    if (!first.next() || first.kind() != bson::type::document)
        return std::nullopt;
    bson::cursor stage{first.as_document()};
    if (!stage.next() || stage.name() != "$changeStream")
        return std::nullopt;
    return stage;
}

void open_change_stream(command_call& call, bson::builder& reply, const bson::cursor& stage,
                        const std::string& coll, const std::string& ns) {
    server_state& s = call.server;
    if (s.standalone())
        throw server_error(code::change_stream_needs_replica_set,
                           "The $changeStream stage is only supported on replica sets");
    if (const collection* views = s.data.find(call.db, "system.views"); views && !coll.empty()) {
        const auto view = bson::builder{}.string("_id", ns).finish();
        if (views->find_by_id(*bson::find(view, "_id")))
            throw server_error(code::command_not_supported_on_view,
                               "Namespace " + ns + " is a view, not a collection");
    }
    auto options = change_stream_options::parse(stage, call.db, coll, s.major());
    auto stages = pipeline::compile(call.array("pipeline"), 1, true, s.version);
    if (options.cluster && !call.connection.trusted && s.users.enabled() &&
        !s.users.may_read_everything(call.connection.user))
        throw_unauthorized(call);
    std::shared_ptr<cursor> c;
    if (s.recorded)
        c = std::make_shared<recorded_cursor>(*s.recorded, options.resume, options.start_at);
    else
        c = std::make_shared<change_stream>(s.data, std::move(options), std::move(stages),
                                            s.modern_events());
    c->ns = ns;
    reply_with_cursor(call, reply, c, first_batch_size(call), false);
}

void run_aggregate(command_call& call, bson::builder& reply) {
    const auto target = *call.field(call.name);
    std::string coll;
    if (target.kind() == bson::type::string)
        coll = target.as_string();
    else if (target.as_integer() != 1)
        throw server_error(
            code::failed_to_parse,
            "Invalid command format: the 'aggregate' field must specify a collection name or 1");
    if (!call.field("pipeline") || call.field("pipeline")->kind() != bson::type::array)
        throw server_error(code::type_mismatch, "'pipeline' option must be specified as an array");
    const bson::view stages = call.array("pipeline");
    const std::string ns = call.db + "." + (coll.empty() ? "$cmd.aggregate" : coll);
    if (const auto stage = change_stream_stage(stages)) {
        open_change_stream(call, reply, *stage, coll, ns);
        return;
    }
    const auto compiled = pipeline::compile(stages, 0, false, call.server.version);
    if (coll.empty())
        throw server_error(
            code::invalid_namespace,
            "{aggregate: 1} is not valid for this pipeline; a collection is required.");
    const std::size_t size = first_batch_size(call);
    std::vector<bson::document> docs;
    if (const collection* c = call.server.data.find(call.db, coll))
        for (const record_id r : c->find(matcher::compile(bson::view()), batch::unlimited))
            docs.push_back(bson::document::copy_of(c->get(r)));
    auto c = std::make_shared<result_cursor>(compiled.run(std::move(docs)));
    c->ns = ns;
    reply_with_cursor(call, reply, c, size, false);
}

} // namespace

void register_aggregate(std::map<std::string, command_spec>& table) {
    table["aggregate"] = {
        access::read,
        run_aggregate,
        nullptr,
        {"pipeline", "cursor", "allowDiskUse", "hint", "bypassDocumentValidation"},
        false};
}

} // namespace cdc::test::standin
