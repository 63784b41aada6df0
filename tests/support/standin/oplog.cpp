// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/oplog.hpp"

#include "core/bson/builder.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace cdc::test::standin {

uuid random_uuid() {
    uuid out{};
    if (RAND_bytes(out.data(), static_cast<int>(out.size())) != 1)
        throw std::runtime_error("no random bytes");
    out[6] = static_cast<std::uint8_t>((out[6] & 0x0fU) | 0x40U);
    out[8] = static_cast<std::uint8_t>((out[8] & 0x3fU) | 0x80U);
    return out;
}

namespace {

oplog_entry note(std::string_view message) {
    oplog_entry out;
    bson::builder b;
    out.object = b.string("msg", message).finish();
    return out;
}

} // namespace

oplog::oplog(std::size_t limit)
    : limit_(limit) {
    append(note("initiating set"));
    append(note("new primary"));
}

std::int64_t oplog::now_ms() const noexcept {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count() +
           std::int64_t{ahead_} * 1000;
}

const oplog_entry& oplog::append(oplog_entry entry) {
    entry.wall_ms = now_ms();
    const auto seconds = static_cast<std::uint32_t>(entry.wall_ms / 1000);
    if (seconds > last_.t)
        last_ = {seconds, 1};
    else
        ++last_.i;
    entry.ts = last_;
    entry.term = term_;
    entries_.push_back(std::move(entry));
    if (limit_ != 0)
        keep_last(limit_);
    return entries_.back();
}

void oplog::begin_term(std::int64_t term) {
    term_ = term;
    append(note("new primary"));
}

void oplog::keep_last(std::size_t count) {
    while (entries_.size() > std::max<std::size_t>(count, 1)) {
        entries_.pop_front();
        ++first_index_;
    }
}

void oplog::drop_before(bson::timestamp ts) {
    keep_last(static_cast<std::size_t>(end_index() - std::min(lower_bound(ts), end_index())));
}

std::uint64_t oplog::lower_bound(bson::timestamp ts) const noexcept {
    const auto at =
        std::lower_bound(entries_.begin(), entries_.end(), ts,
                         [](const oplog_entry& e, bson::timestamp t) { return e.ts < t; });
    return first_index_ + static_cast<std::uint64_t>(at - entries_.begin());
}

} // namespace cdc::test::standin
