// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/event_limit.hpp"

#include "core/bson/builder.hpp"
#include "tests/support/standin/describe.hpp"
#include "tests/support/standin/resume_token.hpp"
#include "tests/support/standin/server_error.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace cdc::test::standin {

namespace {

constexpr std::size_t largest = (16U << 20U) + (16U << 10U);
constexpr std::size_t largest_unsplit = largest - (8U << 10U);
constexpr std::size_t fragment_head = 1024; ///< token, splitEvent

} // namespace

void check_event_size(bson::view event) {
    if (event.size() <= largest)
        return;
    bson::cursor first{event};
    first.next();
    throw server_error(code::object_too_large,
                       fmt::format("BSONObj size: {} (0x{:X}) is invalid. Size must be between 0 "
                                   "and {}(16MB) First element: {}: {}",
                                   event.size(), event.size(), largest, first.name(),
                                   describe(first)));
}

bool needs_split(bson::view event) noexcept {
    return event.size() > largest_unsplit;
}

std::deque<bson::document> split_event(const oplog_entry& entry, bson::view event) {
    std::multimap<std::size_t, bson::cursor> by_size;
    for (bson::cursor c{event}; c.next();)
        if (c.name() != "_id")
            by_size.emplace(bson::builder{}.value(c.name(), c).finish().size(), c);
    std::vector<bson::builder> contents(1);
    std::size_t held = 0;
    for (const auto& [size, field] : by_size) {
        if (held != 0 && held + size > largest_unsplit - fragment_head) {
            contents.emplace_back();
            held = 0;
        }
        contents.back().value(field.name(), field);
        held += size;
    }
    std::deque<bson::document> out;
    for (auto& fields : contents) {
        const auto number = static_cast<std::int32_t>(out.size());
        bson::builder part;
        part.int32("fragment", number + 1).int32("of", static_cast<std::int32_t>(contents.size()));
        bson::builder b;
        b.document("_id", resume_token::of_event(entry, false, number).to_document());
        b.document("splitEvent", part.finish()).append_all(fields.finish());
        out.push_back(b.finish());
    }
    return out;
}

} // namespace cdc::test::standin
