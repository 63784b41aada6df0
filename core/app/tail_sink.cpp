// SPDX-License-Identifier: Apache-2.0
#include "core/app/tail_sink.hpp"

#include "core/json/indent.hpp"
#include "core/runtime/blocking_pool.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cdc::app {

namespace asio = boost::asio;
using error::errc;

namespace {

constexpr int look_ms = 100;

error::diagnostics failure(int code) {
    return error::fail(errc::io,
                       fmt::format("cannot write to standard output: {}", std::strerror(code)));
}

} // namespace

asio::awaitable<error::result<void>> tail_sink::start() {
    co_return error::result<void>{};
}

void tail_sink::append(const event::record_batch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (settings_.limit && count_ == *settings_.limit)
            return;
        const auto value = batch[i].value;
        if (!value)
            continue; // a tombstone
        if (settings_.pretty)
            json::append_indented(buffer_, *value);
        else
            buffer_ += *value;
        buffer_ += '\n';
        ++count_;
    }
}

asio::awaitable<error::result<void>>
tail_sink::write(std::vector<std::shared_ptr<const event::record_batch>> batches) {
    if (cancelled_)
        co_return error::fail(errc::cancelled, "cancelled");
    if (!ended_) {
        buffer_.clear();
        for (const auto& batch : batches)
            append(*batch);
        auto work = [this] { return write_out(); };
        const auto written = co_await context_.blocking->run(work);
        if (!written)
            co_return written.error();
        if (cancelled_)
            co_return error::fail(errc::cancelled, "cancelled");
        if (!*written || (settings_.limit && count_ == *settings_.limit))
            end();
    }
    for (const auto& batch : batches)
        if (batch->size() > 0)
            context_.acknowledge(batch->first_sequence(), batch->last_sequence());
    co_return error::result<void>{};
}

error::result<bool> tail_sink::write_out() {
    struct stat file{};
    const bool regular = ::fstat(settings_.fd, &file) == 0 && S_ISREG(file.st_mode);
    // A pipe that is ready takes so much without blocking; waiting is done in poll, where a cancel
    // is seen.
    const std::size_t most = regular ? buffer_.size() : PIPE_BUF;
    for (std::size_t at = 0; at < buffer_.size();) {
        if (cancelled_)
            return false;
        pollfd ready{settings_.fd, POLLOUT, 0};
        const int n = ::poll(&ready, 1, look_ms);
        if (n < 0 && errno != EINTR)
            return failure(errno);
        if (n <= 0)
            continue;
        const auto written =
            ::write(settings_.fd, buffer_.data() + at, std::min(most, buffer_.size() - at));
        if (written >= 0)
            at += static_cast<std::size_t>(written);
        else if (errno == EPIPE)
            return false;
        else if (errno != EINTR && errno != EAGAIN)
            return failure(errno);
    }
    return true;
}

void tail_sink::end() {
    ended_ = true;
    buffer_ = {};
    if (settings_.done)
        settings_.done();
}

asio::awaitable<error::result<void>> tail_sink::flush() {
    if (cancelled_)
        co_return error::fail(errc::cancelled, "cancelled");
    co_return error::result<void>{};
}

void tail_sink::cancel() noexcept {
    cancelled_ = true;
}

asio::awaitable<void> tail_sink::stop() {
    co_return;
}

} // namespace cdc::app
