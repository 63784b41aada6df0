// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/stream_batch.hpp"

#include "sources/mongodb/streaming/decoder.hpp"

namespace cdc::mongodb::streaming {

namespace {

bool makes_records(event::operation op) noexcept {
    return op == event::operation::create || op == event::operation::update ||
           op == event::operation::remove;
}

} // namespace

stream_batch::stream_batch(cursor::change_reply reply, std::optional<event::position> end,
                           filters& f)
    : reply_(std::move(reply))
    , end_(std::move(end)) {
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
        if (decoded->op == event::operation::invalidate) {
            stop(error::fail(
                error::errc::unsupported,
                "the change stream was invalidated: what it watches was dropped or renamed. The "
                "events in front of that are delivered; a stream that was invalidated cannot go "
                "on. To start anew from now, give the connector another name"));
            return;
        }
        if (!makes_records(decoded->op)) {
            ++skipped_;
            continue;
        }
        const auto wanted = f.wants(decoded->db, decoded->collection);
        if (!wanted) {
            stop(wanted.error());
            return;
        }
        if (*wanted)
            events_.push_back(*decoded);
        else
            ++skipped_;
    }
}

void stream_batch::stop(error::diagnostics why) {
    end_.reset();
    stopped_ = std::move(why);
}

} // namespace cdc::mongodb::streaming
