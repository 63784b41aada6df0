// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/membership.hpp"

#include "core/bson/builder.hpp"

#include <bson/bson.h>

#include <algorithm>

namespace cdc::test::standin {

namespace {

// What a member has counted when it has come up, before it knows of a primary.
constexpr std::int64_t fresh_counter = 3;
constexpr std::int64_t for_election = 3;
constexpr std::int64_t for_step_down = 2;
constexpr std::int64_t for_other_primary = 1;

std::array<std::uint8_t, 12> fresh_id() {
    bson_oid_t id;
    bson_oid_init(&id, nullptr);
    std::array<std::uint8_t, 12> out{};
    std::copy(std::begin(id.bytes), std::end(id.bytes), out.begin());
    return out;
}

} // namespace

membership::membership(std::size_t count, bool standalone, oplog& history)
    : history_(history)
    , standalone_(standalone) {
    for (std::size_t i = 0; i < count; ++i) {
        auto m = std::make_unique<member_state>();
        m->index = i;
        m->primary = i == 0;
        m->process_id = fresh_id();
        m->topology_counter = fresh_counter + (i == 0 ? for_election : for_other_primary);
        members_.push_back(std::move(m));
    }
}

member_state* membership::primary() const noexcept {
    for (const auto& m : members_)
        if (m->primary && m->up)
            return m.get();
    return nullptr;
}

std::array<std::uint8_t, 12> membership::election_id() const noexcept {
    std::array<std::uint8_t, 12> out = {0x7f, 0xff, 0xff, 0xff};
    for (std::size_t i = 0; i < sizeof term_; ++i)
        out[out.size() - 1 - i] =
            static_cast<std::uint8_t>(static_cast<std::uint64_t>(term_) >> 8 * i);
    return out;
}

bool membership::majority_up() const noexcept {
    const auto up = std::ranges::count_if(members_, [](const auto& m) { return m->up; });
    return static_cast<std::size_t>(up) * 2 > members_.size();
}

member_state* membership::candidate(clock::time_point now) const {
    if (standalone_ || primary() != nullptr || !majority_up())
        return nullptr;
    for (std::size_t i = 1; i <= members_.size(); ++i) {
        member_state& m = *members_[(last_primary_ + i) % members_.size()];
        if (m.up && !m.shutting_down && m.not_elected_before <= now)
            return &m;
    }
    return nullptr;
}

std::optional<membership::clock::time_point>
membership::next_candidate_at(clock::time_point now) const {
    std::optional<clock::time_point> out;
    for (const auto& m : members_)
        if (m->up && !m->shutting_down && m->not_elected_before > now &&
            (!out || m->not_elected_before < *out))
            out = m->not_elected_before;
    return out;
}

bool membership::has_successor(const member_state& m, clock::time_point now) const {
    return std::ranges::any_of(members_, [&](const auto& other) {
        return other.get() != &m && other->up && !other->shutting_down &&
               other->not_elected_before <= now;
    });
}

void membership::elect(member_state& m) {
    ++term_;
    last_primary_ = m.index;
    m.not_elected_before = {};
    for (const auto& other : members_) {
        other->primary = other.get() == &m;
        if (other->up)
            other->topology_counter += other->primary ? for_election : for_other_primary;
    }
    history_.begin_term(term_);
}

void membership::step_down(member_state& m, clock::time_point not_elected_before) {
    m.primary = false;
    m.topology_counter += for_step_down;
    m.not_elected_before = not_elected_before;
}

void membership::went_down(member_state& m) {
    m.up = m.shutting_down = false;
    m.primary = standalone_;
    m.cursors.kill_all();
    m.faults.end();
    for (const auto& done : std::exchange(m.on_down, {}))
        done();
}

void membership::came_up(member_state& m) {
    m.up = true;
    m.not_elected_before = {};
    m.process_id = fresh_id();
    m.next_connection = 1;
    m.topology_counter = fresh_counter;
    if (standalone_)
        m.topology_counter += for_election;
    else if (primary() != nullptr)
        m.topology_counter += for_other_primary;
}

} // namespace cdc::test::standin
