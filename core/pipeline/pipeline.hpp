// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/log/logger.hpp"
#include "core/offset/store.hpp"
#include "core/pipeline/ack_window.hpp"
#include "core/pipeline/bounded_queue.hpp"
#include "core/pipeline/encoder.hpp"
#include "core/pipeline/offset_keeper.hpp"
#include "core/pipeline/retry_policy.hpp"
#include "core/pipeline/slicer.hpp"
#include "core/pipeline/status.hpp"
#include "core/runtime/task_group.hpp"
#include "core/runtime/wake_slot.hpp"
#include "sinks/sink.hpp"
#include "sources/source.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdc::pipeline {

/// Numbers of a pipeline; what users may change comes from their configuration.
struct pipeline_options {
    std::string connector;
    std::chrono::milliseconds flush_interval{1000}; ///< offset.flush.interval.ms
    bounded_queue::limits queue;                    ///< max.queue.size, max.queue.size.in.bytes
    slicer::limits slice;
    std::size_t write_bytes = 4 * 1024 * 1024; ///< a sink gets about so much in one call
    unsigned store_attempts = 5;               ///< failed saves in a row until the connector fails
    retry_policy::limits store_retry;
    /// How long after a failure the other sinks may deliver what was read already.
    std::chrono::milliseconds failure_drain{10000};
};

/// How to make one sink of the connector.
struct sink_plan {
    std::string name; ///< unique within the connector
    std::function<std::unique_ptr<sink::sink>(sink::context)> make;
    std::size_t encoding = 0; ///< index into pipeline_parts::encoders
};

/// What a pipeline is put together from.
struct pipeline_parts {
    boost::asio::any_io_executor executor; ///< the connector's reactor
    std::unique_ptr<source::source> source;
    std::vector<std::shared_ptr<encoder>> encoders; ///< one per distinct encoding
    std::vector<sink_plan> sinks;                   ///< at least one
    offset::store* store = nullptr;                 ///< outlives the pipeline
    runtime::blocking_pool* blocking = nullptr;     ///< outlives the pipeline
    log::logger logger;
    /// What must stay the same while positions are kept, as canonical JSON ({"set":…,"prefix":…}).
    /// Asked after the source has started or failed to; an empty text is not compared.
    std::function<std::string()> identity;
    /// Wall clock, ms since 1970; the system's when left out.
    std::function<std::int64_t()> now_ms;
    /// Called on the executor when `status().state` or `.ended` has changed. May be left out. Must
    /// not destroy the pipeline.
    std::function<void()> changed;
};

/// One connector at work: reads batches, encodes them once per encoding, hands them to all sinks
/// through one bounded queue and stores the positions that are safe.
///
/// A position is stored for a sink once every record up to it was acknowledged by that sink; it
/// never goes back. Reading starts at the lowest stored position; what a sink has already is not
/// sent to it again. At a first start the position where reading began is stored before anything is
/// delivered. When the queue is full reading pauses, so the slowest sink sets the pace.
///
/// The first failure of source, sink, encoder or store ends the connector: reading stops, the other
/// sinks deliver what was read (at most `failure_drain`), positions up to the acknowledgements are
/// stored, everything is closed, and the state stays `failed`. Nothing restarts by itself.
///
/// Lives on one reactor: construct anywhere, call everything else on its executor.
class pipeline {
  public:
    pipeline(pipeline_options options, pipeline_parts parts);
    /// Everything must have ended: `status().ended`, or `stop` has returned, or it never started.
    ~pipeline();
    pipeline(const pipeline&) = delete;
    pipeline& operator=(const pipeline&) = delete;

    /// Begins; once. Returns at once: `status` tells what becomes of it.
    void start();

    struct summary {
        struct sink {
            std::string name;
            std::uint64_t delivered = 0;   ///< records acknowledged in this run
            std::uint64_t undelivered = 0; ///< read but not acknowledged: a later run repeats them
        };
        std::vector<sink> sinks;
        std::optional<error::diagnostics> error; ///< of a connector that failed, now or before
    };
    /// Stops reading, delivers what was read until `deadline` and not longer, stores positions and
    /// closes everything. Works in every state, also when it has ended already. Called once; may
    /// take as long after the deadline as a system call or store call under way takes.
    boost::asio::awaitable<summary> stop(std::chrono::steady_clock::time_point deadline);

    pipeline_status status() const;

  private:
    struct sink_lane; // one sink and its bookkeeping

    boost::asio::awaitable<void> run();
    boost::asio::awaitable<error::result<void>> open();
    boost::asio::awaitable<error::result<void>> read();
    boost::asio::awaitable<void> run_pump(std::size_t at);
    boost::asio::awaitable<error::result<void>> pump(std::size_t at);
    boost::asio::awaitable<void> run_flusher();
    boost::asio::awaitable<void> wind_down();
    boost::asio::awaitable<void> await_pumps();

    void take(const slicer::slice& s);
    void acknowledge(std::size_t at, std::uint64_t first, std::uint64_t last);
    void fail(error::diagnostics d);
    void set_state(connector_state s);
    boost::asio::awaitable<error::result<void>> save_positions();
    std::vector<std::shared_ptr<const event::position>> safe_positions() const;

    pipeline_options options_;
    pipeline_parts parts_;
    std::vector<std::unique_ptr<sink_lane>> lanes_;
    bounded_queue queue_;
    offset_keeper offsets_;
    std::optional<slicer> slicer_;

    connector_state state_ = connector_state::starting;
    bool started_ = false;
    bool ended_ = false;
    bool stop_requested_ = false;
    bool source_started_ = false;
    bool starts_anew_ = false; ///< nothing was stored
    bool flusher_ending_ = false;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    std::optional<error::diagnostics> error_;

    std::uint64_t events_ = 0;
    std::uint64_t records_ = 0;
    std::uint64_t bytes_ = 0;
    bson::timestamp last_event_time_;

    std::size_t pumps_running_ = 0;
    runtime::wake_slot progress_;     ///< wakes wind_down: a pump ended, the deadline moved
    runtime::wake_slot flusher_wake_; ///< wakes the flusher to end
    runtime::task_group pumps_;
    runtime::task_group flusher_;
    runtime::task_group tasks_;
};

} // namespace cdc::pipeline
