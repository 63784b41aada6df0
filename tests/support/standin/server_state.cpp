// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/server_state.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace cdc::test::standin {

namespace {

std::array<int, 3> parse_version(const std::string& text) {
    std::array<int, 3> out{};
    char rest = 0;
    if (std::sscanf(text.c_str(), "%d.%d.%d%c", &out[0], &out[1], &out[2], &rest) != 3 ||
        out[0] < 4 || (out[0] == 4 && out[1] < 4))
        throw std::invalid_argument(
            "the stand-in plays versions from 4.4.0 on, written as 4.4.0, not " + text);
    return out;
}

} // namespace

server_state::server_state(const replica_set_options& options)
    : set_name(options.standalone ? "" : options.set_name)
    , version(parse_version(options.version))
    , version_text(options.version)
    , scan_limit(options.scan_limit)
    , data(options.oplog_limit)
    , members(options.members, options.standalone, data.history())
    , users(options.users)
    , election_delay(options.election_delay) {
    if (!options.standalone && options.set_name.empty())
        throw std::invalid_argument("a replica set needs a name");
    if (options.members == 0 || options.members > 7 || (options.standalone && options.members != 1))
        throw std::invalid_argument("a set has one to seven members, a standalone is one");
    data.event_padding = options.event_padding;
    for (const auto& file : options.recordings) {
        if (!recorded)
            recorded.emplace();
        recorded->load(file);
    }
}

void server_state::wake_all() {
    for (runtime::wake_slot* slot : waiting)
        slot->notify();
}

void server_state::settle() {
    const auto now = membership::clock::now();
    if (member_state* p = members.primary();
        p != nullptr && !standalone() && !members.majority_up())
        members.step_down(*p, {});
    if (member_state* next = elections_held ? nullptr : members.candidate(now)) {
        if (election_delay.count() == 0 || election_due_) {
            members.elect(*next);
        } else if (!std::exchange(election_pending_, true)) {
            after(election_delay, [this] {
                election_pending_ = false;
                election_due_ = true;
                settle();
                election_due_ = false;
            });
        }
    } else if (members.primary() == nullptr) {
        if (const auto at = members.next_candidate_at(now))
            after(std::chrono::ceil<std::chrono::milliseconds>(*at - now), [this] { settle(); });
    }
    wake_all();
}

void server_state::elect(member_state& m) {
    if (member_state* p = members.primary(); p != nullptr && p != &m)
        members.step_down(*p, {});
    if (!m.primary)
        members.elect(m);
    wake_all();
}

void server_state::stop(member_state& m, bool orderly, const std::function<void()>& done) {
    if (done)
        m.on_down.push_back(done);
    if (!m.up || !orderly) {
        go_down(m, !orderly);
        return;
    }
    if (std::exchange(m.shutting_down, true))
        return;
    if (m.primary && !standalone())
        members.step_down(m, membership::clock::time_point::max());
    settle();
    if (m.running == 0)
        go_down(m, false);
}

void server_state::go_down(member_state& m, bool reset) {
    if (m.up)
        m.server->stop_listening(reset);
    members.went_down(m);
    settle();
}

void server_state::start(member_state& m) {
    if (m.up)
        return;
    m.server->listen_again();
    members.came_up(m);
    settle();
}

void server_state::ended_one(member_state& m) {
    if (--m.running > 0 || !m.shutting_down)
        return;
    // Later, because the reply of the last one is still to be sent.
    after(std::chrono::milliseconds(0), [this, &m] {
        if (m.shutting_down && m.running == 0)
            go_down(m, false);
    });
}

std::int32_t server_state::max_wire_version() const noexcept {
    constexpr std::int32_t of_4_4 = 9;
    constexpr std::int32_t of_5_0 = 13;
    // 5.0 is 13, 6.0 is 17, 7.0 is 21, 8.0 is 25.
    return major() < 5 ? of_4_4 : of_5_0 + (major() - 5) * 4;
}

} // namespace cdc::test::standin
