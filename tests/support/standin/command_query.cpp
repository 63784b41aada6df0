// SPDX-License-Identifier: Apache-2.0
// find, count, getMore, killCursors.
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/oplog_document.hpp"
#include "tests/support/standin/projection.hpp"
#include "tests/support/standin/server_error.hpp"
#include "tests/support/standin/sort_order.hpp"

#include <algorithm>
#include <chrono>

namespace cdc::test::standin {

namespace {

constexpr std::size_t first_batch_default = 101;
constexpr std::int64_t await_default_ms = 1000;

std::vector<bson::document> read_oplog(const oplog& log, const matcher& filter, int natural,
                                       std::size_t most) {
    std::vector<bson::document> out;
    const std::uint64_t count = log.end_index() - log.first_index();
    for (std::uint64_t i = 0; i < count && out.size() < most; ++i) {
        const std::uint64_t index = natural < 0 ? log.end_index() - 1 - i : log.first_index() + i;
        bson::document doc = oplog_document(log.at(index));
        if (filter.matches(doc))
            out.push_back(std::move(doc));
    }
    return out;
}

std::size_t not_negative(const command_call& call, std::string_view name) {
    const std::int64_t v = call.number(name).value_or(0);
    if (v < 0)
        throw server_error(51024, "BSON field '" + std::string(name) +
                                      "' value must be >= 0, actual value '" + std::to_string(v) +
                                      "'");
    return static_cast<std::size_t>(v);
}

std::vector<bson::document> find_documents(const command_call& call, const std::string& coll,
                                           const matcher& filter, const sort_order& order,
                                           std::size_t skip, std::size_t limit) {
    // Without a sort nobody needs more than these.
    const std::size_t most = !order.empty() || limit == 0 ? batch::unlimited : skip + limit;
    std::vector<bson::document> docs;
    if (call.db == "local" && coll == "oplog.rs") {
        if (!call.server.standalone())
            docs = read_oplog(call.server.data.history(), filter, order.natural(), most);
    } else if (const collection* c = call.server.data.find(call.db, coll)) {
        for (const record_id r : c->find(filter, order.natural() < 0 ? batch::unlimited : most))
            docs.push_back(bson::document::copy_of(c->get(r)));
        if (order.natural() < 0)
            std::reverse(docs.begin(), docs.end());
    }
    if (!order.empty())
        std::stable_sort(docs.begin(), docs.end(),
                         [&](const auto& a, const auto& b) { return order.before(a, b); });
    docs.erase(docs.begin(),
               docs.begin() + static_cast<std::ptrdiff_t>(std::min(skip, docs.size())));
    if (limit != 0 && docs.size() > limit)
        docs.erase(docs.begin() + static_cast<std::ptrdiff_t>(limit), docs.end());
    return docs;
}

void run_find(command_call& call, bson::builder& reply) {
    const std::string coll = call.text(call.name);
    for (const char* refused :
         {"tailable", "awaitData", "returnKey", "showRecordId", "oplogReplay"})
        if (call.flag(refused))
            throw server_error(code::bad_value,
                               std::string("this stand-in has no find with ") + refused);
    const matcher filter = matcher::compile(call.document("filter"));
    const sort_order order(call.document("sort"));
    const projection fields(call.document("projection"));
    const std::int64_t limit = call.number("limit").value_or(0);
    const bool single = call.flag("singleBatch") || limit < 0;
    auto docs = find_documents(call, coll, filter, order, not_negative(call, "skip"),
                               static_cast<std::size_t>(limit < 0 ? -limit : limit));
    if (!fields.empty())
        for (auto& doc : docs)
            doc = fields.apply(doc);
    auto c = std::make_shared<result_cursor>(std::move(docs));
    c->ns = call.db + "." + coll;
    const std::size_t size =
        call.field("batchSize") ? not_negative(call, "batchSize") : first_batch_default;
    reply_with_cursor(call, reply, c, single && size == 0 ? batch::unlimited : size, single);
}

void run_count(command_call& call, bson::builder& reply) {
    const matcher filter = matcher::compile(call.document("query"));
    const auto docs = find_documents(call, call.text(call.name), filter, sort_order(),
                                     not_negative(call, "skip"), not_negative(call, "limit"));
    reply.int32("n", static_cast<std::int32_t>(docs.size()));
}

void check_session(const command_call& call, const cursor& c) {
    constexpr std::string_view nobody = " - 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    const auto shown = [&](const std::string& session) {
        return uuid_text({reinterpret_cast<const std::uint8_t*>(session.data()), session.size()}) +
               std::string(nobody);
    };
    const std::string start =
        "Cannot run getMore on cursor " + std::to_string(c.id) + ", which was ";
    if (!call.session.empty() && c.session.empty())
        throw server_error(code::cursor_outside_session,
                           start + "not created in a session, in session " + shown(call.session));
    if (call.session.empty() && !c.session.empty())
        throw server_error(code::cursor_needs_session,
                           start + "created in session " + shown(c.session) + ", without an lsid");
    if (call.session != c.session)
        throw server_error(code::cursor_of_other_session, start + "created in session " +
                                                              shown(c.session) + ", in session " +
                                                              shown(call.session));
}

server_error not_found(std::int64_t id) {
    return {code::cursor_not_found, "cursor id " + std::to_string(id) + " not found"};
}

/// Marks a cursor as used by one getMore, which its connection's slot wakes.
class cursor_use {
  public:
    cursor_use(command_call& call, cursor& c)
        : waiting_(call)
        , cursor_(c) {
        cursor_.in_use = true;
    }
    ~cursor_use() { cursor_.in_use = false; }
    cursor_use(const cursor_use&) = delete;
    cursor_use& operator=(const cursor_use&) = delete;

  private:
    waiting_command waiting_;
    cursor& cursor_;
};

std::shared_ptr<cursor> cursor_for(const command_call& call, std::int64_t id) {
    const auto c = call.self.cursors.find(id);
    if (!c)
        throw not_found(id);
    const std::string ns = call.db + "." + call.text("collection");
    if (c->ns != ns)
        throw server_error(code::unauthorized,
                           "Requested getMore on namespace '" + ns +
                               "', but cursor belongs to a different namespace " + c->ns);
    if (c->user != call.connection.user)
        throw server_error(code::unauthorized, "cursor id " + std::to_string(id) +
                                                   " was not created by the authenticated user");
    check_session(call, *c);
    if (c->in_use)
        throw server_error(code::cursor_in_use,
                           "cursor id " + std::to_string(id) + " is already in use");
    return c;
}

boost::asio::awaitable<void> run_get_more(command_call* call, bson::builder* reply) {
    const std::int64_t id = call->number(call->name).value_or(0);
    const std::shared_ptr<cursor> c = cursor_for(*call, id);
    const std::size_t size = not_negative(*call, "batchSize");
    // Slow scanning: the whole wait goes by over the entries that may be looked at, and the reply
    // tells how far that went.
    const std::size_t looks = call->server.scan_limit;
    batch out(size == 0 ? batch::unlimited : size, looks == 0 ? batch::unlimited : looks);
    const auto wait =
        std::chrono::milliseconds(call->number("maxTimeMS").value_or(await_default_ms));
    const auto until = std::chrono::steady_clock::now() + wait;
    const cursor_use use(*call, *c);
    while (true) {
        try {
            c->fill(out);
        } catch (const server_error&) {
            call->self.cursors.kill(id);
            throw;
        }
        const auto left = until - std::chrono::steady_clock::now();
        if (!out.empty() || c->exhausted() || !c->waits() || left <= left.zero())
            break;
        co_await call->connection.wake.wait_for(left);
        if (call->connection.closed)
            call->self.cursors.kill(id); // as the server does when the client of a getMore goes
        if (call->self.shutting_down)
            throw server_error(code::interrupted_at_shutdown,
                               "Error in $cursor stage :: caused by :: interrupted at shutdown");
        if (c->killed)
            throw server_error(code::cursor_killed,
                               "operation was interrupted because the cursor was killed");
    }
    if (c->exhausted())
        call->self.cursors.kill(id);
    bson::builder docs;
    for (const auto& doc : out.documents())
        docs.document(std::to_string(docs.count()), doc);
    bson::builder b;
    b.array("nextBatch", docs.finish());
    const bson::document position = c->position();
    if (!position.view().empty())
        b.document("postBatchResumeToken", position);
    b.int64("id", c->exhausted() ? 0 : id).string("ns", c->ns);
    reply->document("cursor", b.finish());
}

void run_kill_cursors(command_call& call, bson::builder& reply) {
    call.text(call.name);
    bson::builder killed;
    bson::builder missing;
    for (bson::cursor c{call.array("cursors")}; c.next();) {
        auto& list = call.self.cursors.kill(c.as_integer().value_or(0)) ? killed : missing;
        list.value(std::to_string(list.count()), c);
    }
    reply.array("cursorsKilled", killed.finish()).array("cursorsNotFound", missing.finish());
    reply.array("cursorsAlive", bson::view()).array("cursorsUnknown", bson::view());
    call.server.wake_all();
}

} // namespace

void register_query(std::map<std::string, command_spec>& table) {
    table["find"] = {access::read,
                     run_find,
                     nullptr,
                     {"filter", "sort", "projection", "skip", "limit", "batchSize", "singleBatch",
                      "hint", "noCursorTimeout", "allowPartialResults", "allowDiskUse", "tailable",
                      "awaitData", "returnKey", "showRecordId", "oplogReplay"},
                     false};
    table["count"] = {
        access::read, run_count, nullptr, {"query", "limit", "skip", "hint", "fields"}, false};
    table["getMore"] = {
        access::authenticated, nullptr, run_get_more, {"collection", "batchSize", "term"}, false};
    table["killCursors"] = {access::authenticated, run_kill_cursors, nullptr, {"cursors"}, false};
}

} // namespace cdc::test::standin
