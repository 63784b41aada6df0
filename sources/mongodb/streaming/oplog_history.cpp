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
/// By this text the server itself knows an oplog from which nothing is missing (recording errors).
constexpr std::string_view initiating_set = "initiating set";

} // namespace

std::string to_second(bson::timestamp t) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(t.t)));
}

std::string in_words(bson::timestamp t) {
    return fmt::format("{} (timestamp {}, {})", to_second(t), t.t, t.i);
}

std::string in_words(const std::optional<oplog_history::window>& oplog) {
    if (!oplog)
        return "oldest entry unknown, newest unknown";
    return fmt::format("oldest entry {}, newest {}", in_words(oplog->oldest),
                       in_words(oplog->newest));
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

asio::awaitable<error::result<oplog_history::window>> oplog_history::whole() {
    const auto oldest = co_await end(1);
    if (!oldest)
        co_return oldest.error();
    const auto newest = co_await end(-1);
    if (!newest)
        co_return newest.error();
    co_return window{oldest->ts, newest->ts, oldest->of_new_set};
}

asio::awaitable<error::result<oplog_history::first_entry>> oplog_history::oldest() {
    co_return co_await end(1);
}

asio::awaitable<error::result<oplog_history::first_entry>>
oplog_history::end(std::int32_t direction) {
    bson::builder s;
    s.int32("$natural", direction);
    const auto sort = s.finish();
    bson::builder p;
    p.int32("ts", 1).int32("op", 1).int32("o.msg", 1);
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
        ts && ts->kind() == bson::type::timestamp) {
        const auto is = [&reply](std::string_view path, std::string_view text) {
            const auto found = bson::find_path(*reply, path);
            return found && found->kind() == bson::type::string && found->as_string() == text;
        };
        const bool of_new_set =
            is("cursor.firstBatch.0.op", "n") && is("cursor.firstBatch.0.o.msg", initiating_set);
        co_return first_entry{ts->as_timestamp(), of_new_set};
    }
    co_return error::fail(error::errc::protocol, "local.oplog.rs has no entry with a time");
}

} // namespace cdc::mongodb::streaming
