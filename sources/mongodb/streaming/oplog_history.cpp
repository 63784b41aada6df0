// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/oplog_history.hpp"

#include "core/bson/builder.hpp"
#include "sources/mongodb/cursor/change_cursor.hpp"

#include <fmt/chrono.h>

#include <chrono>
#include <ctime>

namespace cdc::mongodb::streaming {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds probe_wait{500};
constexpr int object_too_large = 10334;

} // namespace

std::string in_words(bson::timestamp t) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ} (timestamp {}, {})",
                       fmt::gmtime(static_cast<std::time_t>(t.t)), t.t, t.i);
}

asio::awaitable<error::result<void>> oplog_history::reaches_back_to(bson::timestamp since) {
    cursor::change_cursor probe(runner_, {1, probe_wait});
    auto aggregate = cursor::open_probe_stream(target_, since);
    auto reply = co_await probe.open(std::move(aggregate));
    if (reply && probe.is_open())
        reply = co_await probe.get_more();
    co_await probe.kill();
    // An event that is too large to send was found behind the start, so the start is there.
    if (!reply && reply.error().server_code != object_too_large)
        co_return std::move(reply).error();
    co_return error::result<void>{};
}

asio::awaitable<std::string> oplog_history::range() {
    const auto known = co_await whole();
    if (!known)
        co_return std::string("oldest entry unknown, newest unknown");
    co_return fmt::format("oldest entry {}, newest {}", in_words(known->oldest),
                          in_words(known->newest));
}

asio::awaitable<error::result<oplog_history::window>> oplog_history::whole() {
    const auto oldest = co_await end(1);
    if (!oldest)
        co_return oldest.error();
    const auto newest = co_await end(-1);
    if (!newest)
        co_return newest.error();
    co_return window{*oldest, *newest};
}

asio::awaitable<error::result<bson::timestamp>> oplog_history::end(std::int32_t direction) {
    bson::builder s;
    s.int32("$natural", direction);
    const auto sort = s.finish();
    bson::builder p;
    p.int32("ts", 1);
    const auto projection = p.finish();
    bson::builder b;
    b.string("find", "oplog.rs")
        .document("sort", sort)
        .int32("limit", 1)
        .boolean("singleBatch", true)
        .document("projection", projection)
        .int32("maxTimeMS", 5000);
    auto find = b.finish();
    std::string db = "local";
    auto reply = co_await runner_.command(std::move(db), std::move(find));
    if (!reply)
        co_return std::move(reply).error();
    if (const auto ts = bson::find_path(*reply, "cursor.firstBatch.0.ts");
        ts && ts->kind() == bson::type::timestamp)
        co_return ts->as_timestamp();
    co_return error::fail(error::errc::protocol, "local.oplog.rs has no entry with a time");
}

} // namespace cdc::mongodb::streaming
