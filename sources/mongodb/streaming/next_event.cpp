// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/next_event.hpp"

#include "sources/mongodb/cursor/change_cursor.hpp"

#include <fmt/format.h>

#include <chrono>

namespace cdc::mongodb::streaming {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds wait{1000};
constexpr int most_reads = 10;

std::string text_of(bson::view change, std::string_view path) {
    const auto found = bson::find_path(change, path);
    return found && found->kind() == bson::type::string ? std::string(found->as_string())
                                                        : std::string();
}

error::result<event_outline> outline_of(bson::view change) {
    event_outline out;
    out.operation_type = text_of(change, "operationType");
    out.db = text_of(change, "ns.db");
    out.collection = text_of(change, "ns.coll");
    const auto token = bson::find(change, "_id");
    if (!token || token->kind() != bson::type::document)
        return error::fail(error::errc::protocol, "an event without a resume token came");
    const auto time = bson::find(change, "clusterTime");
    out.position = {token->as_document(), time && time->kind() == bson::type::timestamp
                                              ? time->as_timestamp()
                                              : bson::timestamp{}};
    return out;
}

} // namespace

std::string event_outline::describe() const {
    return fmt::format("{} of {}{}{} (resume token {})", operation_type, db,
                       collection.empty() ? "" : ".", collection, position.data());
}

asio::awaitable<error::result<event_outline>> find_next_event(cursor::command_runner& runner,
                                                              cursor::stream_target target,
                                                              cursor::open_at at,
                                                              const filters& f) {
    cursor::change_cursor outlines(runner, {1, wait});
    auto aggregate = cursor::open_outline_stream(target, at, f);
    auto reply = co_await outlines.open(std::move(aggregate));
    for (int i = 0; i < most_reads && reply && reply->empty() && outlines.is_open(); ++i)
        reply = co_await outlines.get_more();
    co_await outlines.kill();
    if (!reply)
        co_return std::move(reply).error();
    if (reply->empty())
        co_return error::fail(error::errc::protocol,
                              "the event that was too large to be sent did not come again");
    bson::cursor first(reply->batch);
    first.next();
    co_return outline_of(first.as_document());
}

} // namespace cdc::mongodb::streaming
