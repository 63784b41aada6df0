// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/streaming/primary_watch.hpp"

#include "sources/mongodb/streaming/old_session.hpp"

#include <fmt/format.h>

#include <utility>

namespace cdc::mongodb::streaming {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

primary_watch::primary_watch(asio::any_io_executor reactor,
                             std::unique_ptr<cursor::command_runner> runner, settings s,
                             log::logger logger)
    : runner_(std::move(runner))
    , logger_(std::move(logger))
    , judge_(s.interval)
    , backoff_(s.backoff, s.seed)
    , tasks_(reactor, logger_)
    , wake_(std::move(reactor)) {}

primary_watch::~primary_watch() = default;

void primary_watch::watch(const client::server_description& server) {
    if (cancelled_)
        return;
    ++round_;
    moved_.reset();
    watching_ = true;
    judge_.read_from(server);
    const bool other = std::exchange(host_, server.host) != server.host;
    // What was left behind on the member before is ended first.
    if (other && connected_ != host_ && !left_ && !killing_)
        disconnect();
    if (!std::exchange(started_, true))
        tasks_.spawn("primary watch", run());
    wake_.notify();
}

void primary_watch::leave(bson::document session) {
    ++round_;
    moved_.reset();
    watching_ = false;
    if (connected_ == host_)
        left_ = std::move(session);
    wake_.notify();
}

void primary_watch::cancel() noexcept {
    cancelled_ = true;
    runner_->cancel();
    wake_.notify();
}

asio::awaitable<void> primary_watch::stop() {
    cancel();
    co_await tasks_.join();
    co_await runner_->stop();
}

void primary_watch::disconnect() noexcept {
    connected_.clear();
    runner_->interrupt();
}

asio::awaitable<void> primary_watch::run() {
    while (!cancelled_) {
        if (left_)
            co_await kill_session();
        else if (!watching_ || moved_)
            co_await wake_.wait();
        else if (connected_ != host_)
            co_await connect();
        else
            co_await ask();
    }
}

asio::awaitable<void> primary_watch::connect() {
    if (!connected_.empty())
        disconnect();
    const auto round = round_;
    auto found = co_await runner_->connect();
    if (cancelled_)
        co_return;
    if (!found) {
        if (round != round_)
            co_return; // another member is watched meanwhile
        logger_.debug("watch of {}: {}", host_, found.error().describe());
        runner_->interrupt(); // the next look shall not believe what this one saw
        co_await rest(backoff_.next());
        co_return;
    }
    connected_ = found->host;
    logger_.debug("watch of {}: asks {}", host_, connected_);
    judge(judge_.on_found(*found));
}

asio::awaitable<void> primary_watch::ask() {
    const auto asked = clock::now();
    auto question = judge_.next_question();
    auto reply = co_await runner_->command(question.db, std::move(question.command));
    if (cancelled_ || connected_.empty()) // or another member is watched meanwhile
        co_return;
    if (!reply) {
        logger_.debug("watch of {}: {}", host_, reply.error().describe());
        disconnect();
        co_await rest(backoff_.next());
        co_return;
    }
    backoff_.reset();
    judge(judge_.on_reply(*reply));
    co_await rest(
        judge_.rest(std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - asked)));
}

void primary_watch::judge(primary_judge::verdict v) {
    if (!v || !watching_ || moved_)
        return;
    moved_ = fmt::format("{} {}", host_, *v);
    if (on_moved_)
        on_moved_();
}

asio::awaitable<void> primary_watch::kill_session() {
    auto kill = old_session::kill(*std::exchange(left_, std::nullopt));
    killing_ = true;
    auto reply = co_await runner_->command(kill.db, std::move(kill.command));
    killing_ = false;
    if (!reply && reply.error().code != error::errc::server)
        disconnect();
}

asio::awaitable<void> primary_watch::rest(std::chrono::milliseconds time) {
    const auto round = round_;
    const auto until = clock::now() + time;
    while (!cancelled_ && round == round_ && !moved_) {
        const auto left = until - clock::now();
        if (left <= left.zero())
            break;
        co_await wake_.wait_for(left);
    }
}

} // namespace cdc::mongodb::streaming
