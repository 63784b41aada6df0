// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/stream_source.hpp"

#include "sources/mongodb/streaming/deployment.hpp"
#include "sources/mongodb/streaming/stream_batch.hpp"

#include <fmt/format.h>

#include <cassert>
#include <exception>

namespace cdc::mongodb::streaming {

namespace asio = boost::asio;

namespace {

/// More than a server waits by default before it answers a getMore without news.
constexpr std::chrono::milliseconds stop_grace{1500};
error::diagnostics cancelled() {
    return error::fail(error::errc::cancelled, "cancelled");
}

bool ends_with_invalidate(const cursor::change_reply& reply) {
    if (reply.empty())
        return false;
    const auto type = bson::find(reply.last(), "operationType");
    return type && type->kind() == bson::type::string && type->as_string() == "invalidate";
}

} // namespace

stream_source::stream_source(asio::any_io_executor reactor,
                             std::unique_ptr<cursor::command_runner> runner,
                             stream_settings settings, filters f, log::logger logger,
                             std::unique_ptr<primary_watch> watch)
    : logger_(std::move(logger))
    , runner_(std::move(runner))
    , settings_(std::move(settings))
    , filters_(std::move(f))
    , policy_(settings_.target.describe(), settings_.backoff, settings_.seed)
    , features_(settings_.oversize == cursor::oversize_mode::split, settings_.unsplit_allowed)
    , oversize_(settings_.oversize)
    , history_(*runner_, settings_.target)
    , cursor_(*runner_, {settings_.batch_size, settings_.max_await})
    , watch_(std::move(watch))
    , headroom_(settings_.headroom)
    , tasks_(reactor, logger_)
    , consumer_(reactor)
    , fetcher_(reactor)
    , stopper_(std::move(reactor)) {
    if (watch_)
        watch_->on_moved([this] {
            runner_->interrupt();
            fetcher_.notify();
        });
}

stream_source::~stream_source() {
    assert(!fetching_);
}

// --- The caller's side --------------------------------------------------------------------------

asio::awaitable<error::result<void>> stream_source::start(event::position from) {
    if (cancelled_)
        co_return cancelled();
    anew_ = from.empty();
    stored_ = from.cluster_time();
    if (!anew_ && !settings_.start.is_now())
        logger_.info("a position is stored, so {} is not used", settings_.start.describe());
    progress_ = stream_progress(std::move(from));
    fetching_ = true;
    tasks_.spawn("change stream", run_fetch());
    while (!opened_ && !failed_ && !cancelled_)
        co_await consumer_.wait();
    if (cancelled_)
        co_return cancelled();
    if (!opened_)
        co_return *failed_;
    co_return error::result<void>{};
}

asio::awaitable<error::result<std::unique_ptr<cdc::source::batch>>> stream_source::next_batch() {
    for (;;) {
        if (cancelled_)
            co_return cancelled();
        if (waiting_) {
            auto taken = std::move(*waiting_);
            waiting_.reset();
            fetcher_.notify(); // the next getMore goes out while this one is decoded and handled
            if (taken.made)
                co_return std::move(taken.made);
            auto batch = make_batch(std::move(taken));
            if (batch->stopped()) {
                end_with(*batch->stopped());
                if (batch->events().empty())
                    co_return *failed_;
            }
            if (batch->idle())
                continue;
            co_return std::unique_ptr<cdc::source::batch>(std::move(batch));
        }
        if (failed_)
            co_return *failed_;
        co_await consumer_.wait();
    }
}

cdc::source::source_status stream_source::status() const {
    return {reopened_, gaps_, headroom_.value(), state(), skipped_, oversized_};
}

void stream_source::cancel() noexcept {
    if (cancelled_)
        return;
    cancelled_ = true;
    // A waiting getMore soon ends by itself, and then the cursor can be closed.
    if (in_flight_ == flight::other)
        runner_->cancel();
    if (watch_)
        watch_->cancel();
    consumer_.notify();
    fetcher_.notify();
}

asio::awaitable<void> stream_source::stop() {
    cancel();
    const auto deadline = std::chrono::steady_clock::now() + stop_grace;
    while (fetching_) {
        const auto left = deadline - std::chrono::steady_clock::now();
        if (left <= left.zero()) {
            runner_->cancel();
            break;
        }
        co_await stopper_.wait_for(left);
    }
    co_await tasks_.join();
    if (watch_)
        co_await watch_->stop();
    co_await runner_->stop();
}

// --- The fetching side --------------------------------------------------------------------------

void stream_source::end_with(error::diagnostics d) {
    if (!failed_)
        failed_ = std::move(d);
    consumer_.notify();
    fetcher_.notify();
}

void stream_source::hand_over(cursor::change_reply reply, std::optional<event::position> end) {
    if (reply.empty() && !end)
        return;
    waiting_.emplace(fetched{std::move(reply), std::move(end), nullptr});
    consumer_.notify();
}

asio::awaitable<void> stream_source::run_fetch() {
    try {
        co_await fetch();
    } catch (const std::exception& e) {
        end_with(
            error::fail(error::errc::internal,
                        fmt::format("the change stream ended with an exception: {}", e.what())));
    }
    in_flight_ = flight::none;
    fetching_ = false;
    stopper_.notify();
}

asio::awaitable<void> stream_source::fetch() {
    while (!cancelled_ && !failed_) {
        auto where = cursor::phase::connecting;
        error::result<void> done{};
        if (!connected_)
            done = co_await connect();
        if (done && !cancelled_) {
            const bool at_token = anew_ ? settings_.start.is_token() : progress_.opens_with_token();
            where = at_token ? cursor::phase::opening_with_token : cursor::phase::opening_without;
            done = co_await open();
        }
        if (done && !cancelled_) {
            where = cursor::phase::get_more;
            auto read_on = co_await read();
            if (!read_on)
                done = std::move(read_on).error();
            else if (*read_on == reading::reopen)
                continue;
        }
        if (done || cancelled_ || failed_)
            break;
        if (must_move()) {
            move();
            continue;
        }
        auto why = std::move(done).error();
        const bool goes_on = co_await recover(where, std::move(why));
        if (!goes_on)
            break;
    }
    if (connected_ && cursor_.is_open()) {
        in_flight_ = flight::get_more; // its end is bounded by `stop` alone
        co_await cursor_.kill();
        in_flight_ = flight::none;
    }
}

asio::awaitable<error::result<void>> stream_source::connect() {
    cursor_.forget();
    in_flight_ = flight::other;
    auto server = co_await runner_->connect();
    in_flight_ = flight::none;
    if (!server)
        co_return std::move(server).error();
    policy_.on_login();
    if (cancelled_)
        co_return cancelled();
    if (auto good = check_deployment(*server); !good)
        co_return std::move(good).error();
    if (!set_name_.empty() && set_name_ != server->set_name)
        co_return error::fail(error::errc::configuration,
                              fmt::format("{} now belongs to replica set {}, not {}", server->host,
                                          server->set_name, set_name_));
    in_flight_ = flight::other;
    auto version = co_await streaming::server_version(*runner_);
    in_flight_ = flight::none;
    if (!version)
        co_return std::move(version).error();
    server_version_ = std::move(*version);
    features_.on_connected(server_version_);
    set_name_ = server->set_name;
    host_ = server->host;
    headroom_.on_connected();
    if (auto kill = session_.on_connected(*server)) {
        in_flight_ = flight::other;
        auto killed = co_await runner_->command(kill->db, std::move(kill->command));
        in_flight_ = flight::none;
        if (!killed && killed.error().code != error::errc::server)
            co_return std::move(killed).error();
    }
    if (watch_)
        watch_->watch(*server);
    connected_ = true;
    co_return error::result<void>{};
}

asio::awaitable<error::result<void>> stream_source::open() {
    // What is left of the stream before; on a new connection there is nothing.
    if (cursor_.is_open()) {
        in_flight_ = flight::other;
        co_await cursor_.kill();
        in_flight_ = flight::none;
        if (cancelled_)
            co_return cancelled();
    }
    const bool chosen = anew_ && !settings_.start.is_now();
    error::result<void> there{};
    if (chosen)
        there = co_await choose_start();
    else if (progress_.opens_with_token())
        there = co_await compare_with_oplog();
    if (!there)
        co_return std::move(there).error();
    if (cancelled_)
        co_return cancelled();
    const auto at = progress_.next_opening(features_.start_after());
    const bool from_now = std::holds_alternative<std::monostate>(at);
    auto aggregate = cursor::open_change_stream(settings_.target, at, filters_, features_.split());
    in_flight_ = flight::other;
    auto reply = co_await cursor_.open(std::move(aggregate));
    in_flight_ = flight::none;
    if (!reply) {
        auto refused = std::move(reply).error();
        if (reopens_without(refused, at))
            co_return co_await open();
        co_return refused;
    }
    if (chosen && reply->operation_time)
        if (auto good = settings_.start.check_not_ahead(*reply->operation_time); !good)
            co_return good;
    auto moved = progress_.on_opened(*reply);
    if (!moved)
        co_return std::move(moved).error();
    if (gap_)
        co_return co_await hand_over_gap();
    if (*moved)
        policy_.on_progress();
    if (chosen) {
        beginning_.emplace(beginning{std::move(*reply), progress_.at().clone()});
        co_return error::result<void>{};
    }
    log_opening(from_now);
    if (waiting_)
        note_recovery(); // it is not the server that keeps it from reading on
    auto room = co_await wait_for_room();
    if (!room)
        co_return room;
    // At a first start also the second time: it may have had to leave a member before it got here.
    if (anew_ && !progress_.at().empty())
        *moved = progress_.at().clone();
    hand_over(std::move(*reply), std::move(*moved));
    anew_ = false;
    open_for_caller();
    co_return error::result<void>{};
}

void stream_source::open_for_caller() {
    if (std::exchange(opened_, true))
        return;
    consumer_.notify();
}

asio::awaitable<error::result<stream_source::reading>> stream_source::read() {
    for (;;) {
        auto paused = co_await pass_pause();
        if (!paused)
            co_return std::move(paused).error();
        if (cancelled_ || failed_)
            co_return reading::over;
        if (!cursor_.is_open())
            co_return error::fail(error::errc::protocol,
                                  "the server closed the change stream without saying why");
        in_flight_ = flight::get_more;
        auto reply = co_await cursor_.get_more(oversize_.batch_size(settings_.batch_size));
        in_flight_ = flight::none;
        if (!reply)
            co_return std::move(reply).error();
        if (cancelled_ || failed_)
            co_return reading::over;
        if (!progress_.needs_proof() || !reply->empty()) {
            auto announced = co_await announce_start();
            if (!announced)
                co_return std::move(announced).error();
        }
        const bool invalidated = ends_with_invalidate(*reply);
        auto end = progress_.on_reply(*reply);
        if (progress_.needs_proof()) {
            auto proved = co_await prove();
            if (!proved)
                co_return std::move(proved).error();
            if (!progress_.needs_proof()) {
                auto announced = co_await announce_start();
                if (!announced)
                    co_return std::move(announced).error();
            }
            end = progress_.on_reply(*reply);
        }
        if (invalidated && !end)
            co_return error::fail(error::errc::protocol,
                                  "the server ends the change stream where it was opened");
        if (end || !reply->empty())
            policy_.on_progress();
        if (end)
            oversize_.on_progress(reply->empty());
        note_recovery();
        hand_over(std::move(*reply), std::move(end));
        if (invalidated) {
            logger_.info("{} was dropped or renamed, which ends a change stream; it is opened "
                         "again behind that",
                         settings_.target.describe());
            ++reopened_;
            co_return reading::reopen;
        }
    }
}

asio::awaitable<error::result<void>> stream_source::wait_for_room() {
    while (waiting_ && !cancelled_ && !failed_ && !must_move())
        co_await fetcher_.wait();
    if (must_move())
        co_return error::fail(error::errc::network, watch_->reason());
    co_return error::result<void>{};
}

void stream_source::log_opening(bool from_now) {
    if (opened_)
        return;
    const auto& at = progress_.at();
    const auto time = at.empty() ? std::string("an unknown time") : in_words(at.cluster_time());
    logger_.info("reads changes of {} from {} (MongoDB {}, replica set {}), {} {}",
                 settings_.target.describe(), host_, server_version_, set_name_,
                 from_now     ? "starts from now at"
                 : beginning_ ? "starts at the configured place,"
                              : "goes on behind",
                 time);
}

} // namespace cdc::mongodb::streaming
