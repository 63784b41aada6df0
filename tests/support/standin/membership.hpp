// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/standin/member_state.hpp"
#include "tests/support/standin/oplog.hpp"

#include <chrono>
#include <memory>
#include <vector>

namespace cdc::test::standin {

/// The members, their roles and the terms: what an election changes. All members that are up see
/// each other at once. Counts topology versions as recorded of a 4.4 set: 3 for being elected, 2
/// for stepping down, 1 for learning of another primary and none for losing sight of it. Without
/// I/O and clocks of its own.
class membership {
  public:
    using clock = std::chrono::steady_clock;

    /// The first member is primary of term 1. A standalone is one member that is always primary and
    /// never voted for.
    membership(std::size_t count, bool standalone, oplog& history);

    const std::vector<std::unique_ptr<member_state>>& all() const noexcept { return members_; }
    member_state* primary() const noexcept;
    std::int64_t term() const noexcept { return term_; }
    /// Rises from election to election.
    std::array<std::uint8_t, 12> election_id() const noexcept;
    bool majority_up() const noexcept;

    /// The one to be elected now: the next after the last primary that is up and has not stepped
    /// down a moment ago. Nothing while there is a primary or no majority.
    member_state* candidate(clock::time_point now) const;
    /// The earliest end of a step-down period of a member that is up; nothing: nobody waits.
    std::optional<clock::time_point> next_candidate_at(clock::time_point now) const;
    /// Another one that could take over from `m`.
    bool has_successor(const member_state& m, clock::time_point now) const;

    void elect(member_state& m);
    void step_down(member_state& m, clock::time_point not_elected_before);
    /// The process is gone: its cursors and counters too.
    void went_down(member_state& m);
    void came_up(member_state& m);

  private:
    oplog& history_;
    bool standalone_;
    std::vector<std::unique_ptr<member_state>> members_;
    std::size_t last_primary_ = 0;
    std::int64_t term_ = 1;
};

} // namespace cdc::test::standin
