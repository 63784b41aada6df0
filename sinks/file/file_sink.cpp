// SPDX-License-Identifier: Apache-2.0
#include "sinks/file/file_sink.hpp"

#include "core/runtime/blocking_pool.hpp"

#include <cassert>

namespace cdc::file {

namespace asio = boost::asio;
using error::errc;

file_sink::file_sink(cdc::sink::context context, file_options options)
    : context_(std::move(context))
    , options_(std::move(options))
    , writer_(std::make_unique<line_writer>(options_, context_.logger))
    , wake_(context_.executor)
    , tasks_(context_.executor, context_.logger) {}

file_sink::~file_sink() = default;

error::result<void> file_sink::usable() const {
    if (cancelled_)
        return error::fail(errc::cancelled, "cancelled");
    if (failure_)
        return *failure_;
    return {};
}

asio::awaitable<error::result<void>> file_sink::start() {
    auto open = [this] { return writer_->open(); };
    auto opened = co_await context_.blocking->run(open);
    if (!opened)
        failure_ = opened.error();
    if (auto r = usable(); !r)
        co_return r;
    unsynced_ = writer_->current();
    if (options_.fsync == fsync_mode::interval)
        tasks_.spawn("file sink interval", run_interval());
    co_return error::result<void>{};
}

asio::awaitable<error::result<void>>
file_sink::write(std::vector<std::shared_ptr<const event::record_batch>> batches) {
    if (auto r = usable(); !r)
        co_return r;
    if (batches.empty())
        co_return error::result<void>{};
    const bool sync = options_.fsync == fsync_mode::batch;
    auto work = [this, sync, &batches] { return writer_->write(batches, sync); };
    auto done = co_await context_.blocking->run(work);
    unsynced_ = writer_->current();
    if (!done && !failure_)
        failure_ = done.error();
    if (auto r = usable(); !r)
        co_return r;

    if (written_.empty())
        written_since_ = std::chrono::steady_clock::now();
    for (const auto& batch : batches) {
        if (batch->size() == 0)
            continue;
        if (!written_.empty() && written_.back().second + 1 == batch->first_sequence() &&
            options_.fsync != fsync_mode::interval)
            written_.back().second = batch->last_sequence();
        else
            written_.emplace_back(batch->first_sequence(), batch->last_sequence());
    }
    if (written_.empty())
        co_return error::result<void>{};
    if (options_.fsync == fsync_mode::interval)
        wake_.notify();
    else
        acknowledge_through(written_.back().second);
    co_return error::result<void>{};
}

asio::awaitable<error::result<void>> file_sink::flush() {
    if (auto r = usable(); !r)
        co_return r;
    if (written_.empty())
        co_return error::result<void>{};
    co_return co_await sync_written();
}

asio::awaitable<error::result<void>> file_sink::sync_written() {
    const std::uint64_t last = written_.back().second;
    auto file = unsynced_; // a rotation may replace it meanwhile
    auto sync = [&file] { return file->sync(); };
    auto synced = co_await context_.blocking->run(sync);
    // What a failed fdatasync lost is not found out by a second one: terminal.
    if (!synced && !failure_)
        failure_ = synced.error();
    if (auto r = usable(); !r)
        co_return r;
    acknowledge_through(last);
    co_return error::result<void>{};
}

void file_sink::acknowledge_through(std::uint64_t last) {
    while (!written_.empty() && written_.front().second <= last && !cancelled_) {
        const auto [from, to] = written_.front();
        written_.pop_front();
        context_.acknowledge(from, to);
    }
    written_since_ = std::chrono::steady_clock::now();
}

asio::awaitable<void> file_sink::run_interval() {
    while (!ending_ && !cancelled_ && !failure_) {
        if (written_.empty()) {
            co_await wake_.wait();
            continue;
        }
        const auto left =
            written_since_ + options_.fsync_interval - std::chrono::steady_clock::now();
        if (left > std::chrono::steady_clock::duration::zero()) {
            co_await wake_.wait_for(left);
            continue;
        }
        auto synced = co_await sync_written();
        // The next write or flush returns it; until then this line is all there is.
        if (!synced && synced.error().code != errc::cancelled)
            context_.logger.error("{}", synced.error().describe());
    }
}

void file_sink::cancel() noexcept {
    cancelled_ = true;
    wake_.notify();
}

asio::awaitable<void> file_sink::stop() {
    ending_ = true;
    wake_.notify();
    co_await tasks_.join();
    unsynced_.reset();
    auto close = [this] { writer_->close(); };
    co_await context_.blocking->run(close);
}

} // namespace cdc::file
