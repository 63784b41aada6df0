// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/start_point.hpp"

#include <fmt/format.h>

namespace cdc::mongodb::streaming {

start_point::start_point(const start_point& other) {
    *this = other;
}

start_point& start_point::operator=(const start_point& other) {
    if (this == &other)
        return *this;
    if (const auto* t = std::get_if<bson::timestamp>(&other.where_))
        where_ = *t;
    else if (const auto* token = std::get_if<event::position>(&other.where_))
        where_ = token->clone();
    else if (other.is_oldest())
        where_ = oldest{};
    else
        where_ = now{};
    return *this;
}

std::optional<bson::timestamp> start_point::time() const {
    if (const auto* t = std::get_if<bson::timestamp>(&where_))
        return *t;
    if (const auto* token = std::get_if<event::position>(&where_))
        return token->cluster_time();
    return std::nullopt;
}

std::string start_point::describe() const {
    if (is_now())
        return "capture.start.from: now";
    if (is_oldest())
        return "capture.start.from: oldest";
    if (const auto* t = std::get_if<bson::timestamp>(&where_))
        return "capture.start.op.time " + in_words(*t);
    const auto& token = std::get<event::position>(where_);
    return fmt::format("capture.start.token {} of {}", token.data(),
                       in_words(token.cluster_time()));
}

error::result<std::variant<std::monostate, bson::timestamp, event::position>>
start_point::resolve(const std::optional<oplog_history::window>& oplog) const {
    using opening = std::variant<std::monostate, bson::timestamp, event::position>;
    if (is_now())
        return opening{};
    if (is_oldest()) {
        if (!oplog)
            return error::fail(error::errc::configuration,
                               "capture.start.from: oldest needs the right find on local.oplog.rs, "
                               "to see where the oplog begins");
        return opening{oplog->oldest};
    }
    const auto since = *time();
    const auto* token = std::get_if<event::position>(&where_);
    if (oplog && since < oplog->oldest) {
        if (!oplog->complete || token) // a token from before it is of another history
            return error::fail(
                error::errc::position_lost,
                fmt::format("{} is before the oldest entry of the oplog {} (newest {}): changes in "
                            "between can no longer be read; give a later start",
                            describe(), in_words(oplog->oldest), in_words(oplog->newest)));
        return opening{oplog->oldest};
    }
    if (token)
        return opening{token->clone()};
    return opening{since};
}

error::result<void> start_point::check_not_ahead(bson::timestamp newest) const {
    const auto since = time();
    if (!since || *since <= bson::timestamp{newest.t, newest.i + 1})
        return {};
    return error::fail(error::errc::configuration,
                       fmt::format("{} lies ahead of the newest change of the deployment {}: what "
                                   "happens until then would be left out",
                                   describe(), in_words(newest)));
}

} // namespace cdc::mongodb::streaming
