// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/cursor.hpp"

#include <random>

namespace cdc::test::standin {

void result_cursor::fill(batch& out) {
    while (next_ < docs_.size() && out.fits(docs_[next_].size()))
        out.add(std::move(docs_[next_++]));
}

void cursor_table::open(const std::shared_ptr<cursor>& c) {
    thread_local std::mt19937_64 random{std::random_device{}()}; // each set has a thread of its own
    std::uniform_int_distribution<std::int64_t> any(1, std::numeric_limits<std::int64_t>::max());
    do {
        c->id = any(random);
    } while (!cursors_.emplace(c->id, c).second);
}

std::shared_ptr<cursor> cursor_table::find(std::int64_t id) const {
    const auto at = cursors_.find(id);
    return at == cursors_.end() ? nullptr : at->second;
}

bool cursor_table::kill(std::int64_t id) {
    const auto at = cursors_.find(id);
    if (at == cursors_.end())
        return false;
    at->second->killed = true;
    cursors_.erase(at);
    return true;
}

template <class Which>
void cursor_table::kill_where(Which which) {
    std::erase_if(cursors_, [&](const auto& entry) {
        const bool its = which(*entry.second);
        entry.second->killed |= its;
        return its;
    });
}

void cursor_table::kill_session(const std::string& session) {
    kill_where([&](const cursor& c) { return c.session == session; });
}

void cursor_table::kill_all_sessions() {
    kill_where([](const cursor& c) { return !c.session.empty(); });
}

void cursor_table::kill_sessions_of(const std::string& user) {
    kill_where([&](const cursor& c) { return !c.session.empty() && c.user == user; });
}

std::size_t cursor_table::kill_all() {
    const std::size_t count = cursors_.size();
    for (const auto& [id, c] : cursors_)
        c->killed = true;
    cursors_.clear();
    return count;
}

} // namespace cdc::test::standin
