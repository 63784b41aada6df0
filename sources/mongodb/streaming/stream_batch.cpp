// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/stream_batch.hpp"

#include "sources/mongodb/streaming/decoder.hpp"
#include "sources/mongodb/streaming/namespace_event.hpp"

#include <fmt/format.h>

namespace cdc::mongodb::streaming {

namespace {

bool makes_records(event::operation op) noexcept {
    return op == event::operation::create || op == event::operation::update ||
           op == event::operation::remove;
}

} // namespace

stream_batch::stream_batch(cursor::change_reply reply, std::optional<event::position> end,
                           filters& f, const cursor::stream_target& target)
    : reply_(std::move(reply))
    , end_(std::move(end)) {
    read_all(f, target, nullptr);
}

stream_batch::stream_batch(cursor::change_reply reply, std::optional<event::position> end,
                           filters& f, const cursor::stream_target& target,
                           cursor::split_event& fragments)
    : reply_(std::move(reply))
    , end_(std::move(end)) {
    read_all(f, target, &fragments);
}

void stream_batch::read_all(filters& f, const cursor::stream_target& target,
                            cursor::split_event* fragments) {
    std::size_t count = 0;
    for (bson::cursor c(reply_.batch); c.next();)
        ++count;
    events_.reserve(count);
    for (bson::cursor c(reply_.batch); c.next();) {
        auto change = c.as_document();
        if (fragments) {
            const auto part = cursor::split_event::part_of(change);
            if (!part)
                return stop(part.error());
            if (*part) {
                auto whole = fragments->add(change, **part);
                if (!whole)
                    return stop(std::move(whole).error());
                if (!*whole)
                    continue;
                joined_.push_back(std::move(**whole));
                change = joined_.back();
            } else {
                fragments->forget();
            }
        }
        const auto taken = read(change, f, target);
        if (!taken)
            return stop(taken.error());
        if (!*taken)
            ++skipped_;
    }
}

error::result<bool> stream_batch::read(bson::view change, filters& f,
                                       const cursor::stream_target& target) {
    if (target.skip_threshold > 0 && leave_out(change, target))
        return false;
    auto decoded = decode(change);
    if (!decoded)
        return std::move(decoded).error();
    return take(*decoded, change, f, target.namespace_events);
}

bool stream_batch::leave_out(bson::view change, const cursor::stream_target& target) {
    const auto size = bson::find(change, cursor::size_field);
    const auto bytes = size ? size->as_integer() : std::nullopt;
    if (!bytes || *bytes <= static_cast<std::int64_t>(target.skip_threshold))
        return false;
    const auto text = [&](std::string_view path) {
        const auto found = bson::find_path(change, path);
        return found && found->kind() == bson::type::string ? found->as_string()
                                                            : std::string_view("?");
    };
    oversized_.push_back(fmt::format("{} of {}.{} with a document of {} bytes (resume token {})",
                                     text("operationType"), text("ns.db"), text("ns.coll"), *bytes,
                                     text("_id._data")));
    return true;
}

error::result<bool> stream_batch::take(event::change_event e, bson::view change, filters& f,
                                       bool namespace_events) {
    if (makes_records(e.op)) {
        const auto wanted = f.wants(e.db, e.collection);
        if (wanted && *wanted)
            events_.push_back(e);
        return wanted;
    }
    if (!namespace_events || !is_namespace_event(e.operation_type))
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
