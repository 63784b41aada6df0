// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/change_cursor.hpp"

#include "core/bson/builder.hpp"

#include <cassert>

namespace cdc::mongodb::cursor {

namespace asio = boost::asio;

change_cursor::change_cursor(command_runner& runner, settings s)
    : runner_(runner)
    , settings_(s) {}

error::result<change_reply> change_cursor::take(error::result<bson::document> reply) {
    if (!reply) {
        id_ =
            0; // the server drops the cursor of a getMore that failed; else the connection is gone
        return std::move(reply).error();
    }
    auto parsed = change_reply::parse(std::move(*reply));
    if (!parsed)
        return parsed;
    id_ = parsed->cursor_id;
    return parsed;
}

asio::awaitable<error::result<change_reply>> change_cursor::open(database_command aggregate) {
    id_ = 0;
    db_ = aggregate.db;
    collection_.clear();
    auto reply = co_await runner_.command(db_, std::move(aggregate.command));
    auto opened = take(std::move(reply));
    if (!opened)
        co_return opened;
    const auto dot = opened->ns.find('.');
    if (dot == std::string_view::npos) {
        id_ = 0;
        co_return error::fail(error::errc::protocol, "the server's cursor reply has no namespace");
    }
    db_ = opened->ns.substr(0, dot);
    collection_ = opened->ns.substr(dot + 1);
    co_return opened;
}

asio::awaitable<error::result<change_reply>> change_cursor::get_more(std::int32_t at_most) {
    assert(is_open());
    bson::builder b;
    b.int64("getMore", id_).string("collection", collection_);
    if (const auto size = at_most > 0 ? at_most : settings_.batch_size; size > 0)
        b.int32("batchSize", size);
    if (settings_.max_await.count() > 0)
        b.int64("maxTimeMS", settings_.max_await.count());
    auto command = b.finish();
    auto reply = co_await runner_.command(db_, std::move(command));
    co_return take(std::move(reply));
}

asio::awaitable<void> change_cursor::kill() {
    if (!is_open())
        co_return;
    bson::builder ids;
    ids.int64("0", id_);
    const auto list = ids.finish();
    bson::builder b;
    b.string("killCursors", collection_).array("cursors", list);
    auto command = b.finish();
    id_ = 0;
    auto reply = co_await runner_.command(db_, std::move(command));
    (void)reply;
}

} // namespace cdc::mongodb::cursor
