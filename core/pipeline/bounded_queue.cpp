// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/bounded_queue.hpp"

#include <algorithm>
#include <cassert>

namespace cdc::pipeline {

namespace asio = boost::asio;

std::size_t queue_entry::bytes() const noexcept {
    std::size_t sum = sizeof *this + extra_bytes;
    for (const auto& batch : encodings)
        sum += batch->bytes();
    return sum;
}

bounded_queue::bounded_queue(asio::any_io_executor reactor, limits bounds, std::size_t readers)
    : bounds_(bounds)
    , space_(reactor) {
    assert(readers > 0);
    for (std::size_t i = 0; i < readers; ++i)
        readers_.push_back(std::make_unique<reader_state>(reactor));
}

bounded_queue::~bounded_queue() = default;

bool bounded_queue::fits(std::size_t bytes, std::size_t items) const noexcept {
    if (entries_.empty())
        return true;
    return held_.bytes + bytes <= bounds_.bytes && held_.items + items <= bounds_.items;
}

asio::awaitable<error::result<void>> bounded_queue::wait_until_fits(std::size_t bytes,
                                                                    std::size_t items) {
    for (;;) {
        if (cancelled_)
            co_return error::fail(error::errc::cancelled, "cancelled");
        if (closed_)
            co_return error::fail(error::errc::closed, "the queue takes nothing more");
        if (fits(bytes, items))
            co_return error::result<void>{};
        pusher_waits_ = true;
        wake_readers();
        co_await space_.wait();
        pusher_waits_ = false;
    }
}

asio::awaitable<error::result<void>> bounded_queue::wait_for_space() {
    co_return co_await wait_until_fits(1, 1);
}

asio::awaitable<error::result<void>> bounded_queue::push(std::shared_ptr<const queue_entry> entry) {
    const std::size_t bytes = entry->bytes();
    auto space = co_await wait_until_fits(bytes, entry->items());
    if (!space)
        co_return space;
    assert(entry->first() == last_pushed_ + 1 || last_pushed_ == 0);
    last_pushed_ = entry->last();
    held_.bytes += bytes;
    held_.items += entry->items();
    entries_.push_back(std::move(entry));
    for (auto& reader : readers_)
        reader->hurried = false;
    wake_readers();
    co_return error::result<void>{};
}

asio::awaitable<error::result<bounded_queue::entries>> bounded_queue::pop(std::size_t reader,
                                                                          std::size_t max_bytes) {
    reader_state& me = *readers_[reader];
    for (;;) {
        if (cancelled_)
            co_return error::fail(error::errc::cancelled, "cancelled");
        while (me.next < front_ + entries_.size() &&
               entries_[me.next - front_]->last() <= me.acknowledged)
            ++me.next;
        if (me.next < front_ + entries_.size())
            break;
        if (closed_)
            co_return error::fail(error::errc::closed, "the queue is drained");
        if (pusher_waits_ && !me.hurried && me.acknowledged < last_pushed_) {
            me.hurried = true;
            co_return entries{};
        }
        co_await me.wake.wait();
    }
    entries out;
    std::size_t bytes = 0;
    while (me.next < front_ + entries_.size()) {
        const auto& entry = entries_[me.next - front_];
        bytes += entry->bytes();
        if (!out.empty() && bytes > max_bytes)
            break;
        out.push_back(entry);
        ++me.next;
    }
    co_return out;
}

void bounded_queue::acknowledge(std::size_t reader, std::uint64_t sequence) {
    reader_state& me = *readers_[reader];
    if (sequence <= me.acknowledged)
        return;
    me.acknowledged = sequence;
    std::uint64_t by_all = sequence;
    for (const auto& r : readers_)
        by_all = std::min(by_all, r->acknowledged);
    bool freed = false;
    while (!entries_.empty() && entries_.front()->last() <= by_all) {
        held_.bytes -= entries_.front()->bytes();
        held_.items -= entries_.front()->items();
        entries_.pop_front();
        ++front_;
        freed = true;
    }
    for (auto& r : readers_)
        r->next = std::max(r->next, front_);
    if (freed) {
        // Nobody needs to hurry for a pusher that is about to look again.
        pusher_waits_ = false;
        space_.notify();
    }
}

void bounded_queue::close() {
    closed_ = true;
    space_.notify();
    wake_readers();
}

void bounded_queue::cancel() {
    cancelled_ = true;
    space_.notify();
    wake_readers();
}

void bounded_queue::wake_readers() {
    for (auto& reader : readers_)
        reader->wake.notify();
}

} // namespace cdc::pipeline
