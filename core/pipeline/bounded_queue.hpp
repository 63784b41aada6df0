// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/record.hpp"
#include "core/runtime/wake_slot.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace cdc::pipeline {

/// Consecutive records on their way to the sinks; immutable once in the queue. All encodings hold
/// the same sequence numbers; a sink takes the one it wants.
struct queue_entry {
    std::vector<std::shared_ptr<const event::record_batch>> encodings;
    std::size_t extra_bytes = 0; ///< memory held along with it, beyond the encodings

    std::uint64_t first() const noexcept { return encodings.front()->first_sequence(); }
    std::uint64_t last() const noexcept { return encodings.front()->last_sequence(); }
    std::size_t items() const noexcept { return encodings.front()->size(); }
    std::size_t bytes() const noexcept;
};

/// The one queue between a connector's reading and its sinks, bounded in bytes and records. Every
/// sink reads all entries in order with a cursor of its own; the space of an entry becomes free
/// when *every* sink has acknowledged it, so what sinks hold in flight counts too and the slowest
/// sink sets the pace.
///
/// Lives on one reactor, no locks. One pusher; one `pop` per reader at a time. All waiting calls
/// must have returned before destruction: `cancel` makes them.
class bounded_queue {
  public:
    struct limits {
        std::size_t bytes = 64 * 1024 * 1024;
        std::size_t items = 8192;
    };
    struct fill {
        std::size_t bytes = 0;
        std::size_t items = 0;
    };
    using entries = std::vector<std::shared_ptr<const queue_entry>>;

    /// `readers` >= 1, fixed for the life of the queue.
    bounded_queue(boost::asio::any_io_executor reactor, limits bounds, std::size_t readers);
    ~bounded_queue();
    bounded_queue(const bounded_queue&) = delete;
    bounded_queue& operator=(const bounded_queue&) = delete;

    /// Returns when less than the bounds is held. Errors: closed after `close`, cancelled after
    /// `cancel`.
    boost::asio::awaitable<error::result<void>> wait_for_space();

    /// Appends when the entry fits; an entry larger than a whole bound fits when the queue is
    /// empty. Errors as `wait_for_space`; the entry is not in the queue then.
    boost::asio::awaitable<error::result<void>> push(std::shared_ptr<const queue_entry> entry);

    /// The next entries for this reader: at least one, further ones while their sum stays within
    /// `max_bytes` of what the queue counts for them.
    ///
    /// An empty answer is a request to hurry: the queue is full, this reader has taken everything
    /// and has not acknowledged all of it, so nothing will come before it does. It is given once
    /// until something changed.
    ///
    /// Errors: closed after `close` when everything was taken, cancelled after `cancel`.
    boost::asio::awaitable<error::result<entries>> pop(std::size_t reader, std::size_t max_bytes);

    /// This reader has done everything up to and including `sequence`; lower numbers than before
    /// change nothing. Entries that are acknowledged before they were taken are never handed out.
    void acknowledge(std::size_t reader, std::uint64_t sequence);

    /// No more pushes (a waiting one fails); readers still get what is in.
    void close();
    /// Everyone waiting, now and later, gets `cancelled`.
    void cancel();

    /// What is held at the moment: pushed and not yet acknowledged by all.
    fill held() const noexcept { return held_; }
    limits bounds() const noexcept { return bounds_; }

  private:
    struct reader_state {
        explicit reader_state(const boost::asio::any_io_executor& reactor)
            : wake(reactor) {}
        runtime::wake_slot wake;
        std::uint64_t next = 0; ///< number of the entry it takes next
        std::uint64_t acknowledged = 0;
        bool hurried = false;
    };

    bool fits(std::size_t bytes, std::size_t items) const noexcept;
    boost::asio::awaitable<error::result<void>> wait_until_fits(std::size_t bytes,
                                                                std::size_t items);
    void wake_readers();

    limits bounds_;
    std::deque<std::shared_ptr<const queue_entry>> entries_;
    std::uint64_t front_ = 0; ///< number of the first entry in `entries_`
    fill held_;
    std::vector<std::unique_ptr<reader_state>> readers_;
    runtime::wake_slot space_;
    std::uint64_t last_pushed_ = 0;
    bool pusher_waits_ = false;
    bool closed_ = false;
    bool cancelled_ = false;
};

} // namespace cdc::pipeline
