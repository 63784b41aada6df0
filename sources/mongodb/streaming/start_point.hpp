// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/position.hpp"
#include "sources/mongodb/streaming/oplog_history.hpp"

#include <optional>
#include <string>
#include <variant>

namespace cdc::mongodb::streaming {

/// Where a stream begins when no position is stored. A value.
class start_point {
  public:
    struct now {};
    struct oldest {}; ///< the oldest entry that the oplog still holds
    using place = std::variant<now, oldest, bson::timestamp, event::position>;

    start_point() = default; ///< now
    explicit start_point(place where)
        : where_(std::move(where)) {}
    start_point(const start_point& other);
    start_point& operator=(const start_point& other);
    start_point(start_point&&) = default;
    start_point& operator=(start_point&&) = default;
    ~start_point() = default;

    const place& where() const noexcept { return where_; }
    bool is_now() const noexcept { return std::holds_alternative<now>(where_); }
    bool is_oldest() const noexcept { return std::holds_alternative<oldest>(where_); }

    bool is_token() const noexcept { return std::holds_alternative<event::position>(where_); }

    /// The time that was asked for, of a time or a token.
    std::optional<bson::timestamp> time() const;
    /// For people: the option and its value.
    std::string describe() const;

    /// What to open: the time or the token, compared with the oplog (nothing: the user may not
    /// read it). A time before the oldest entry of an oplog that holds everything since the set
    /// was made begins with that entry, because a position from before it could not be told from
    /// a lost one later. Errors: position_lost, naming both times, for what is older than the
    /// oplog; configuration when the oldest entry is asked for and the oplog may not be read.
    error::result<std::variant<std::monostate, bson::timestamp, event::position>>
    resolve(const std::optional<oplog_history::window>& oplog) const;

    /// The server waits silently for a time that lies ahead of it and leaves out what happens
    /// before. `newest` is its operation time (the place of a stream from now is one tick ahead of
    /// that). Errors: configuration, naming both times.
    error::result<void> check_not_ahead(bson::timestamp newest) const;

  private:
    place where_;
};

} // namespace cdc::mongodb::streaming
