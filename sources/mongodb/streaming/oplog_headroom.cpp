// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/oplog_headroom.hpp"

#include <algorithm>

namespace cdc::mongodb::streaming {

oplog_headroom::clock::time_point oplog_headroom::next_look() const noexcept {
    return refused_ ? clock::time_point::max() : next_;
}

void oplog_headroom::on_refused(clock::time_point now) noexcept {
    on_failed(now);
    refused_ = true;
    value_.reset();
}

oplog_headroom::news oplog_headroom::on_oldest(oplog_history::first_entry oldest,
                                               bson::timestamp stored,
                                               clock::time_point now) noexcept {
    next_ = now + settings_.interval;
    const bool first = !value_;
    const std::int64_t seconds = std::int64_t{stored.t} - std::int64_t{oldest.ts.t};
    value_ = std::chrono::seconds(std::max<std::int64_t>(seconds, 0));
    const bool low =
        !oldest.of_new_set && settings_.warn_below.count() > 0 && *value_ < settings_.warn_below;
    if (low != low_) {
        low_ = low;
        return low ? news::low : news::enough;
    }
    return first ? news::first : news::none;
}

} // namespace cdc::mongodb::streaming
