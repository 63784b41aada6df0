// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sources/fake_set.hpp"

#include "core/bson/builder.hpp"
#include "core/event/position.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace cdc::test {

namespace asio = boost::asio;

namespace {

error::diagnostics server_error(int code) {
    error::diagnostics d;
    d.code = error::errc::server;
    d.server_code = code;
    d.server_text = "said by the fake set";
    return d;
}

bson::document token(std::string_view data) {
    bson::builder b;
    b.string("_data", data);
    return b.finish();
}

std::uint32_t second_of(bson::view resume_token) {
    return event::position::time_of(bson::find(resume_token, "_data")->as_string())->t;
}

bool is_invalidate(bson::view change) {
    const auto type = bson::find(change, "operationType");
    return type && type->as_string() == "invalidate";
}

bool for_an_event(bson::view resume_token) {
    return !event::position(resume_token, {}).is_high_water();
}

} // namespace

bson::document fake_set::event_token(std::uint32_t second, bool invalidate) {
    return token(fmt::format("82{:08X}000000012B022C010029{}5A100404382D02B7CA4A80BCBA354CBAD771BF"
                             "461E5F696400290004",
                             second, invalidate ? "6F" : "6E"));
}

bson::document fake_set::high_water_token(std::uint32_t second, std::uint32_t ordinal) {
    return token(fmt::format("82{:08X}{:08X}2B0229296E04", second, ordinal));
}

std::uint32_t fake_set::add(std::int32_t id, std::string type, std::string db,
                            std::string collection) {
    const auto second = now_ + 1;
    bson::builder ns;
    ns.string("db", db).string("coll", collection);
    const auto name_space = ns.finish();
    bson::builder k;
    k.int32("_id", id);
    const auto key = k.finish();
    const auto id_token = event_token(second, type == "invalidate");
    bson::builder b;
    b.document("_id", id_token).string("operationType", type).timestamp("clusterTime", {second, 1});
    if (type == "insert" || type == "replace")
        b.document("fullDocument", key);
    if (type != "invalidate")
        b.document("ns", name_space).document("documentKey", key);
    add_raw(second, b.finish());
    return second;
}

void fake_set::add_raw(std::uint32_t second, bson::document change) {
    oplog_.push_back({second, std::move(change)});
    now_ = second;
    change_.notify();
}

void fake_set::write_elsewhere(std::uint32_t seconds) {
    now_ += seconds;
    change_.notify();
}

void fake_set::idle() {
    change_.notify();
}

std::size_t fake_set::count(std::string_view call) const {
    return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), call));
}

void fake_set::elect(std::string host) {
    primary_ = std::move(host);
    ++topology_;
    for (auto* hello : hellos_)
        hello->notify();
}

std::size_t fake_set::sent_to(std::string_view command, std::string_view host) const {
    return static_cast<std::size_t>(
        std::count(sent.begin(), sent.end(), fmt::format("{} {}", command, host)));
}

bson::document fake_set::reply(std::int64_t id, const char* batch_name,
                               const std::vector<const entry*>& batch, bson::view resume_token) {
    bson::builder documents;
    for (const auto* e : batch)
        documents.document(std::to_string(documents.count()), e->change);
    const auto list = documents.finish();
    bson::builder c;
    c.array(batch_name, list);
    if (gives_tokens)
        c.document("postBatchResumeToken", resume_token);
    c.int64("id", id).string("ns", "shop.$cmd.aggregate");
    const auto cursor = c.finish();
    bson::builder b;
    b.document("cursor", cursor).float64("ok", 1).timestamp("operationTime", {now_, 1});
    return b.finish();
}

error::result<bson::document> fake_set::aggregate(bson::view command) {
    const auto stage = bson::find_path(command, "pipeline.0.$changeStream");
    if (!stage || !bson::find_path(command, "cursor.batchSize"))
        throw std::logic_error("not the aggregate of a change stream");
    opened.push_back(bson::document::copy_of(stage->as_document()));
    cursor_state c;
    auto resume_token = high_water_token(now_);
    const auto start_after = bson::find(stage->as_document(), "startAfter");
    if (start_after && !has_start_after)
        return server_error(40415);
    auto after = bson::find(stage->as_document(), "resumeAfter");
    if (after && event::position(after->as_document(), {}).is_from_invalidate())
        return server_error(260);
    if (start_after)
        after = start_after;
    if (after) {
        resume_token = bson::document::copy_of(after->as_document());
        c.behind = second_of(resume_token);
        if (for_an_event(resume_token)) {
            c.from_event = c.behind;
        } else {
            c.must_reach = c.behind;
            // An event of that very time comes behind it; events have the ordinal 1.
            const auto at_events = high_water_token(c.behind, 1);
            if (bson::find(resume_token, "_data")->as_string() ==
                bson::find(at_events, "_data")->as_string())
                --c.behind;
        }
        c.at_event = c.from_event != 0;
        c.event = bson::find(resume_token, "_data")->as_string();
    } else if (const auto at = bson::find(stage->as_document(), "startAtOperationTime")) {
        c.must_reach = at->as_timestamp().t;
        c.behind = c.must_reach - (at->as_timestamp().i > 1 ? 0 : 1); // events have the number 1
        resume_token = high_water_token(c.must_reach, at->as_timestamp().i);
    } else {
        c.behind = now_;
    }
    c.last = bson::find(resume_token, "_data")->as_string();
    cursors_.emplace(++next_cursor_, c);
    return reply(next_cursor_, "firstBatch", {}, resume_token);
}

error::result<bson::document> fake_set::get_more(bson::view command, bool& wait) {
    const auto id = bson::find(command, "getMore")->as_int64();
    const auto it = cursors_.find(id);
    if (it == cursors_.end())
        return server_error(43);
    auto& c = it->second;
    const auto fail = [&](int code) {
        cursors_.erase(it);
        return server_error(code);
    };
    if (!c.read && c.must_reach != 0 && c.must_reach < oldest_)
        return fail(286);
    const auto batch_size = bson::find(command, "batchSize");
    const auto limit = batch_size ? static_cast<std::size_t>(batch_size->as_int32()) : 1000;
    std::vector<const entry*> batch;
    bool more = false;
    for (const auto& e : oplog_) {
        if (e.second <= c.behind || e.second < oldest_)
            continue;
        if (batch.size() == limit) {
            more = true;
            break;
        }
        batch.push_back(&e);
        if (is_invalidate(e.change))
            break;
    }
    if (!batch.empty() && c.from_event != 0 && c.from_event < oldest_)
        return fail(280);
    c.read = true;
    const bool ended = !batch.empty() && is_invalidate(batch.back()->change);
    if (!batch.empty()) {
        c.behind = batch.back()->second;
        c.event = bson::find_path(batch.back()->change, "_id._data")->as_string();
        c.from_event = 0;
        c.at_event = true;
    }
    const bool at_last_event = c.at_event && (more || ended || c.behind == now_);
    const auto behind = at_last_event ? token(c.event) : high_water_token(now_);
    const auto data = bson::find(behind, "_data")->as_string();
    if (batch.empty() && wait && c.last == data)
        return bson::document{}; // nothing to tell: it waits
    wait = false;
    c.last = data;
    auto out = reply(ended ? 0 : id, "nextBatch", batch, behind);
    if (ended)
        cursors_.erase(it);
    return out;
}

// --- fake_runner --------------------------------------------------------------------------------

asio::awaitable<std::optional<error::diagnostics>> fake_runner::enter(std::string name) {
    if (busy_ || stopped_)
        throw std::logic_error("a call while another is running, or after stop");
    set_.calls.push_back(name);
    set_.sent.push_back(fmt::format("{} {}", name, member_));
    if (given_up_now())
        co_return given_up();
    for (auto it = set_.faults.begin(); it != set_.faults.end(); ++it) {
        if (it->command != name)
            continue;
        if (it->after > 0) {
            --it->after;
            break;
        }
        if (it->hang) {
            set_.faults.erase(it);
            busy_ = true;
            while (!given_up_now())
                co_await cancel_.wait();
            busy_ = false;
            co_return given_up();
        }
        auto d = it->error;
        if (--it->times == 0)
            set_.faults.erase(it);
        if (d.code == error::errc::network)
            connected_ = false;
        co_return d;
    }
    co_return std::nullopt;
}

error::diagnostics fake_runner::given_up() const {
    if (cancelled_)
        return error::fail(error::errc::cancelled, "cancelled");
    return error::fail(error::errc::network, "the connection was given up");
}

asio::awaitable<error::result<mongodb::client::server_description>> fake_runner::connect() {
    interrupted_ = false;
    member_.clear();
    auto fault = co_await enter("connect");
    if (fault)
        co_return std::move(*fault);
    if (set_.primary_.empty())
        co_return error::fail(error::errc::network, "no suitable server");
    connected_ = true;
    member_ = set_.primary_;
    mongodb::client::server_description d;
    d.host = member_;
    d.set_name = set_.set_name;
    d.server_type = set_.server_type;
    d.hello = describe();
    bson::builder session;
    session_ = ++set_.sessions_;
    session.int32("id", session_);
    d.session = session.finish();
    co_return d;
}

bson::document fake_runner::describe() const {
    bson::builder b;
    b.string("setName", set_.set_name).boolean("ismaster", member_ == set_.primary_);
    b.string("me", member_);
    if (!set_.primary_.empty())
        b.string("primary", set_.primary_);
    if (set_.knows_topology) {
        bson::builder v;
        v.int64("counter", set_.topology_);
        const auto version = v.finish();
        b.document("topologyVersion", version);
    }
    b.float64("ok", 1);
    return b.finish();
}

asio::awaitable<error::result<bson::document>> fake_runner::hello(bson::document command) {
    const auto known = bson::find_path(command, "topologyVersion.counter");
    busy_ = true;
    while (known && known->as_int64() == set_.topology_ && !given_up_now()) {
        set_.hellos_.insert(&cancel_);
        ++set_.hello_waiting;
        co_await cancel_.wait();
        --set_.hello_waiting;
        set_.hellos_.erase(&cancel_);
    }
    busy_ = false;
    if (given_up_now())
        co_return given_up();
    co_return describe();
}

asio::awaitable<error::result<bson::document>> fake_runner::command(std::string db,
                                                                    bson::document command) {
    bson::cursor first(command);
    first.next();
    std::string name(first.name());
    auto fault = co_await enter(name);
    if (fault && name == "getMore" && fault->code == error::errc::server)
        set_.cursors_.erase(bson::find(command, "getMore")->as_int64()); // as servers do
    if (fault)
        co_return std::move(*fault);
    if (!connected_)
        throw std::logic_error("a command without a connection");
    if (name == "buildInfo") {
        bson::builder b;
        b.string("version", "4.4.0").float64("ok", 1);
        co_return b.finish();
    }
    if (name == "isMaster" || name == "hello")
        co_return co_await hello(std::move(command));
    if (name == "killSessions") {
        const auto id = bson::find_path(command, "killSessions.0.id")->as_int32();
        set_.killed_sessions.push_back(fmt::format("{} on {}", id, member_));
        std::erase_if(set_.cursors_, [id](const auto& c) { return c.second.session == id; });
        bson::builder b;
        b.float64("ok", 1);
        co_return b.finish();
    }
    if (name == "aggregate") {
        auto opened = set_.aggregate(command);
        if (opened)
            set_.cursors_.at(set_.next_cursor_).session = session_;
        co_return opened;
    }
    if (name == "killCursors") {
        set_.cursors_.erase(bson::find_path(command, "cursors.0")->as_int64());
        bson::builder b;
        b.float64("ok", 1);
        co_return b.finish();
    }
    if (name == "find" && db == "local") {
        if (!set_.readable_oplog)
            co_return server_error(13);
        const bool oldest = bson::find_path(command, "sort.$natural")->as_int32() == 1;
        bson::builder e;
        e.timestamp("ts", {oldest ? set_.oldest_ : set_.now_, 1});
        if (oldest && set_.new_set) {
            bson::builder o;
            o.string("msg", "initiating set");
            const auto object = o.finish();
            e.string("op", "n").document("o", object);
        }
        const auto entry = e.finish();
        bson::builder l;
        l.document("0", entry);
        const auto list = l.finish();
        bson::builder c;
        c.array("firstBatch", list);
        const auto cursor = c.finish();
        bson::builder b;
        b.document("cursor", cursor).float64("ok", 1);
        co_return b.finish();
    }
    if (name != "getMore")
        co_return server_error(59);
    // What happened before is seen below; only what happens from now on ends the waiting.
    co_await set_.change_.wait_for(std::chrono::milliseconds(0));
    bool wait = true;
    auto reply = set_.get_more(command, wait);
    if (wait && reply) {
        busy_ = true;
        set_.waiting = true;
        co_await set_.change_.wait(); // a cancel wakes it too
        set_.waiting = false;
        busy_ = false;
        if (given_up_now())
            co_return given_up();
        wait = false;
        reply = set_.get_more(command, wait);
    }
    co_return reply;
}

void fake_runner::interrupt() noexcept {
    interrupted_ = true;
    connected_ = false;
    cancel_.notify();
    set_.change_.notify();
}

void fake_runner::cancel() noexcept {
    cancelled_ = true;
    cancel_.notify();
    set_.change_.notify();
}

asio::awaitable<void> fake_runner::stop() {
    if (busy_)
        throw std::logic_error("stop while a call is running");
    stopped_ = true;
    co_return;
}

} // namespace cdc::test
