// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/stream_progress.hpp"

#include "sources/mongodb/cursor/split_event.hpp"

namespace cdc::mongodb::streaming {

namespace {

event::position position_of(bson::view token, bson::timestamp otherwise) {
    auto time = otherwise;
    if (const auto data = bson::find(token, "_data"); data && data->kind() == bson::type::string)
        if (const auto inside = event::position::time_of(data->as_string()))
            time = *inside;
    return {token, time};
}

bool ends_event(bson::view change) {
    const auto part = cursor::split_event::part_of(change);
    return part && (!*part || (*part)->last());
}

/// The last change document of the reply that ends an event; nothing when there is none.
std::optional<bson::view> last_whole(const cursor::change_reply& reply) {
    std::optional<bson::view> out;
    for (bson::cursor c(reply.batch); c.next();)
        if (ends_event(c.as_document()))
            out = c.as_document();
    return out;
}

/// Behind all whole events in `reply`, or empty when the reply does not tell.
event::position behind(const cursor::change_reply& reply) {
    const auto now = reply.operation_time.value_or(bson::timestamp{});
    if (!reply.empty() && !ends_event(reply.last())) {
        // Behind a fragment that is not its event's last the rest would come, and not the whole.
        const auto whole = last_whole(reply);
        const auto id = whole ? bson::find(*whole, "_id") : std::nullopt;
        return id && id->kind() == bson::type::document ? position_of(id->as_document(), now)
                                                        : event::position{};
    }
    if (reply.post_batch_token)
        return position_of(*reply.post_batch_token, now);
    if (reply.empty())
        return {};
    const auto id = bson::find(reply.last(), "_id");
    if (!id || id->kind() != bson::type::document)
        return {};
    return position_of(id->as_document(), now);
}

} // namespace

cursor::open_at stream_progress::next_opening(bool start_after) const {
    if (at_.is_from_invalidate() && (at_its_time_ || !start_after)) {
        const auto time = at_.cluster_time();
        return time.i == UINT32_MAX ? bson::timestamp{time.t + 1, 0}
                                    : bson::timestamp{time.t, time.i + 1};
    }
    if (at_its_time_)
        return at_.cluster_time();
    if (!at_.empty())
        return at_.clone();
    if (start_time_)
        return *start_time_;
    return std::monostate{};
}

error::result<std::optional<event::position>>
stream_progress::on_opened(const cursor::change_reply& reply) {
    unproved_ = opens_with_token() && !at_.is_high_water();
    auto moved = on_reply(reply);
    if (!at_.empty() || start_time_)
        return moved;
    if (!reply.operation_time)
        return error::fail(error::errc::protocol,
                           "the server gives neither a resume token nor its operation time");
    start_time_ = reply.operation_time;
    return moved;
}

std::optional<event::position> stream_progress::on_reply(const cursor::change_reply& reply) {
    if (!reply.empty())
        unproved_ = false;
    if (unproved_)
        return std::nullopt;
    auto next = behind(reply);
    if (next <= at_)
        return std::nullopt;
    at_ = next.clone();
    at_its_time_ = false;
    return next;
}

void stream_progress::on_passed(const event::position& p) {
    unproved_ = false; // the server found the position before it gave what follows
    if (p > at_) {
        at_ = p.clone();
        at_its_time_ = false;
    }
}

} // namespace cdc::mongodb::streaming
