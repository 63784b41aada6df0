// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/offset_keeper.hpp"

#include "core/runtime/blocking_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace cdc::pipeline {

namespace asio = boost::asio;
using error::errc;

offset_keeper::offset_keeper(runtime::blocking_pool& blocking, offset::store& store,
                             std::string connector, std::vector<std::string> sinks,
                             log::logger logger)
    : blocking_(blocking)
    , store_(store)
    , connector_(std::move(connector))
    , sinks_(std::move(sinks))
    , logger_(std::move(logger))
    , stored_(sinks_.size()) {}

asio::awaitable<error::result<offset_keeper::starts>> offset_keeper::load() {
    auto work = [this] { return store_.load(connector_); };
    auto entries = co_await blocking_.run(work);
    if (!entries)
        co_return entries.error();
    std::size_t unused = 0;
    for (const auto& e : *entries) {
        const auto sink = std::find(sinks_.begin(), sinks_.end(), e.key.sink);
        if (e.key.partition != partition || sink == sinks_.end()) {
            logger_.info("the stored position of sink {} ({}) is not used: the connector has no "
                         "such sink",
                         e.key.sink, e.key.partition);
            ++unused;
            continue;
        }
        auto position = event::position::from_json(e.position);
        if (!position || position->empty())
            co_return error::fail(
                errc::state_invalid,
                fmt::format("the stored position of sink {} cannot be read: {}", e.key.sink,
                            position ? "it is empty" : position.error().describe()));
        stored_[static_cast<std::size_t>(sink - sinks_.begin())] =
            std::make_shared<const event::position>(std::move(*position));
    }

    starts out;
    for (const auto& position : stored_)
        out.sinks.push_back(position ? position->clone() : event::position{});
    const auto* from = lowest();
    if (!from && unused > 0) {
        logger_.warn(
            "none of the connector's sinks has a stored position, only sinks that it no "
            "longer has: reading starts from now or at the configured start, earlier changes are "
            "not delivered; a sink that gets its old name back goes on where it was");
        co_return out;
    }
    if (!from) {
        auto read = [this] { return store_.load_identity(connector_); };
        auto known = co_await blocking_.run(read);
        if (!known)
            co_return known.error();
        if (*known)
            logger_.warn(
                "the connector has run before ({}), but no position of it is stored; it was "
                "ended before the first one, or someone removed them",
                **known);
        logger_.info("no position is stored: reading starts from now or at the configured start, "
                     "earlier changes are not delivered");
        co_return out;
    }
    out.read_from = from->clone();
    logger_.info("reading resumes at cluster time {}.{}", from->cluster_time().t,
                 from->cluster_time().i);
    for (std::size_t i = 0; i < sinks_.size(); ++i)
        if (!stored_[i])
            logger_.info("sink {} is new: it starts at the lowest position of the other sinks, "
                         "cluster time {}.{}",
                         sinks_[i], from->cluster_time().t, from->cluster_time().i);
    co_return out;
}

const event::position* offset_keeper::lowest() const noexcept {
    const event::position* out = nullptr;
    for (const auto& position : stored_)
        if (position && (!out || *position < *out))
            out = position.get();
    return out;
}

asio::awaitable<error::result<void>> offset_keeper::check_identity(std::string identity) {
    auto read = [this] { return store_.load_identity(connector_); };
    auto stored = co_await blocking_.run(read);
    if (!stored)
        co_return stored.error();
    if (*stored && **stored == identity)
        co_return error::result<void>{};
    const bool positions =
        std::any_of(stored_.begin(), stored_.end(), [](const auto& p) { return p != nullptr; });
    if (*stored && positions)
        co_return error::fail(
            errc::state_invalid,
            fmt::format("the stored positions of connector {} belong to {}, but it is now {}; "
                        "change it back, or give the connector another name",
                        connector_, **stored, identity));
    auto write = [this, &identity] { return store_.save_identity(connector_, identity); };
    co_return co_await blocking_.run(write);
}

asio::awaitable<error::result<void>>
offset_keeper::save(std::vector<std::shared_ptr<const event::position>> safe, std::int64_t now_ms) {
    assert(safe.size() == stored_.size());
    std::vector<offset::entry> entries;
    for (std::size_t i = 0; i < safe.size(); ++i) {
        if (!safe[i] || (stored_[i] && !(*stored_[i] < *safe[i]))) {
            safe[i] = stored_[i];
            continue;
        }
        offset::entry e;
        e.key = {connector_, sinks_[i], partition};
        e.position = safe[i]->to_json();
        e.updated_ms = now_ms;
        entries.push_back(std::move(e));
    }
    if (entries.empty())
        co_return error::result<void>{};
    auto work = [this, &entries] { return store_.save(entries); };
    auto saved = co_await blocking_.run(work);
    if (!saved)
        co_return saved;
    stored_ = std::move(safe);
    co_return error::result<void>{};
}

} // namespace cdc::pipeline
