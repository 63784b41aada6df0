// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/stream_batch.hpp"

#include "sources/mongodb/streaming/decoder.hpp"
#include "sources/mongodb/streaming/namespace_event.hpp"

namespace cdc::mongodb::streaming {

namespace {

bool makes_records(event::operation op) noexcept {
    return op == event::operation::create || op == event::operation::update ||
           op == event::operation::remove;
}

} // namespace

stream_batch::stream_batch(cursor::change_reply reply, std::optional<event::position> end,
                           filters& f, bool namespace_events)
    : reply_(std::move(reply))
    , end_(std::move(end))
    , namespace_events_(namespace_events) {
    std::size_t count = 0;
    for (bson::cursor c(reply_.batch); c.next();)
        ++count;
    events_.reserve(count);
    for (bson::cursor c(reply_.batch); c.next();) {
        auto decoded = decode(c.as_document());
        if (!decoded) {
            stop(std::move(decoded).error());
            return;
        }
        const auto taken = take(*decoded, c.as_document(), f);
        if (!taken) {
            stop(taken.error());
            return;
        }
        if (!*taken)
            ++skipped_;
    }
}

error::result<bool> stream_batch::take(event::change_event e, bson::view change, filters& f) {
    if (makes_records(e.op)) {
        const auto wanted = f.wants(e.db, e.collection);
        if (wanted && *wanted)
            events_.push_back(e);
        return wanted;
    }
    if (!namespace_events_ || !is_namespace_event(e.operation_type))
        return false;
    auto control = control_of(e, change, f);
    if (!control)
        return std::move(control).error();
    if (!*control)
        return false;
    controls_.push_back(std::move(**control));
    e.op = event::operation::control;
    e.control = &controls_.back();
    events_.push_back(e);
    return true;
}

void stream_batch::stop(error::diagnostics why) {
    end_.reset();
    stopped_ = std::move(why);
}

} // namespace cdc::mongodb::streaming
