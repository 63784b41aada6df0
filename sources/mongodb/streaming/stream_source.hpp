// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/logger.hpp"
#include "core/pipeline/retry_policy.hpp"
#include "core/runtime/task_group.hpp"
#include "core/runtime/wake_slot.hpp"
#include "sources/mongodb/cursor/change_cursor.hpp"
#include "sources/mongodb/cursor/command_runner.hpp"
#include "sources/mongodb/cursor/oversize_policy.hpp"
#include "sources/mongodb/cursor/resume_policy.hpp"
#include "sources/mongodb/cursor/split_event.hpp"
#include "sources/mongodb/cursor/stream_features.hpp"
#include "sources/mongodb/filters.hpp"
#include "sources/mongodb/streaming/lost_position.hpp"
#include "sources/mongodb/streaming/next_event.hpp"
#include "sources/mongodb/streaming/old_session.hpp"
#include "sources/mongodb/streaming/oplog_headroom.hpp"
#include "sources/mongodb/streaming/oplog_history.hpp"
#include "sources/mongodb/streaming/primary_watch.hpp"
#include "sources/mongodb/streaming/start_point.hpp"
#include "sources/mongodb/streaming/stream_batch.hpp"
#include "sources/mongodb/streaming/stream_progress.hpp"
#include "sources/source.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cdc::mongodb::streaming {

struct stream_settings {
    cursor::stream_target target;
    std::int32_t batch_size = 2048; ///< documents a getMore gives at most; 0: server's limit
    std::chrono::milliseconds max_await{0}; ///< a getMore waits so long; 0: server's default
    /// `first` must not be below 500 ms with a real client (see client::client).
    pipeline::retry_policy::limits backoff{};
    std::uint64_t seed = 0; ///< of the backoff's jitter
    start_point start;      ///< when nothing is stored
    loss_settings on_loss{};
    oplog_headroom::settings headroom{};
    /// What becomes of an event above the server's size limit.
    cursor::oversize_mode oversize = cursor::oversize_mode::fail;
    bool unsplit_allowed = false; ///< where the server refuses to split
};

/// Reads one change stream of one replica set as a source. Opens it, keeps it open through faults
/// as resume_policy says, always behind the last position that counts (stream_progress), and hands
/// out what the filters want. When nothing is stored it begins at `settings.start`; the first batch
/// then carries that position, once the server has shown that it has everything since.
///
/// A position that has left the oplog ends the stream, or, if the settings say so, is followed by a
/// batch with the one record that tells the gap, and reading goes on from now.
///
/// Between two getMores, and while it waits for its caller, it looks at the oldest entry of the
/// oplog from time to time (one entry is read), to tell how far the stored position is from it.
///
/// While a batch is handled the next getMore is in flight; at most one finished reply waits. So two
/// replies are held at most, the one that is handled included.
///
/// A stream that was invalidated (what a narrow target watches was dropped or renamed) is opened
/// again behind that at once; the invalidate's position counts like any other.
///
/// Terminal errors: position_lost (the text names the position's time and the oplog's range, as far
/// as the user may see it), unsupported (a standalone, a sharded cluster),
/// configuration, authentication, bad_data, server. Every later call gives the same error.
///
/// With a `watch` it reads from the primary as far as known: when the watch tells that the member
/// read from is none any more, what is in flight is abandoned and the stream opened on the new
/// primary, behind the last position that counts. That is no failure; looks for a new primary
/// follow each other by the backoff's first step for a while. Without a watch it reads wherever its
/// runner connects to.
///
/// Lives on one reactor. Stopping: `cancel` ends pending calls at once; `stop` waits up to 1.5 s
/// for a getMore in flight, so that the cursor can be closed on the server.
class stream_source final : public source::source {
  public:
    stream_source(boost::asio::any_io_executor reactor,
                  std::unique_ptr<cursor::command_runner> runner, stream_settings settings,
                  filters f, log::logger logger, std::unique_ptr<primary_watch> watch = {});
    ~stream_source() override;

    boost::asio::awaitable<error::result<void>> start(event::position from) override;
    boost::asio::awaitable<error::result<std::unique_ptr<cdc::source::batch>>>
    next_batch() override;
    void cancel() noexcept override;
    boost::asio::awaitable<void> stop() override;
    void stored(const event::position& lowest) override { stored_ = lowest.cluster_time(); }
    cdc::source::source_status status() const override;

    /// Of the replica set; from `start` on.
    const std::string& set_name() const noexcept { return set_name_; }
    /// "4.4.0"; from `start` on; "unknown" when the server does not tell.
    const std::string& server_version() const noexcept { return server_version_; }
    /// host:port of the member that is read from; from `start` on.
    const std::string& host() const noexcept { return host_; }
    /// Times that the stream had to be opened again.
    std::uint64_t reopened() const noexcept { return reopened_; }
    /// Times of these that it was because the member read from was no longer the primary.
    std::uint64_t moved() const noexcept { return moved_; }
    /// Documents that came and made no event, the oversized ones included.
    std::uint64_t skipped() const noexcept { return skipped_; }
    /// Events left out because of their size: above the skip threshold, or above the server's
    /// limit.
    std::uint64_t oversized() const noexcept { return oversized_; }

  private:
    struct fetched {
        cursor::change_reply reply;
        std::optional<event::position> end;
        std::unique_ptr<cdc::source::batch>
            made; ///< in place of the others: to be given out as it is
    };
    struct beginning {
        cursor::change_reply reply;
        event::position at;
    };
    struct gap {
        event::position from; ///< the position that was lost
        std::optional<oplog_history::window> oplog;
    };
    /// What a cancel may cut off at once.
    enum class flight { none, get_more, other };
    /// How reading ended without an error.
    enum class reading { over, reopen };

    boost::asio::awaitable<void> run_fetch();
    boost::asio::awaitable<void> fetch();
    boost::asio::awaitable<error::result<void>> connect();
    boost::asio::awaitable<error::result<void>> open();
    boost::asio::awaitable<error::result<reading>> read();
    /// Whether the stream, refused at `at`, is to be opened again without what the server lacks.
    bool reopens_without(error::diagnostics& refused, const cursor::open_at& at);
    boost::asio::awaitable<error::result<void>> choose_start();
    boost::asio::awaitable<error::result<void>> announce_start();
    boost::asio::awaitable<error::result<void>> hand_over_gap();
    /// Until nothing waits for the caller. Errors: network when the member has to be left before.
    boost::asio::awaitable<error::result<void>> wait_for_room();
    /// The same, with looks at the oplog. Errors: also those of a broken connection.
    boost::asio::awaitable<error::result<void>> pass_pause();
    boost::asio::awaitable<error::result<void>> look_at_oplog();
    void note_oldest(oplog_history::first_entry oldest);
    /// Nothing when the user may not read the oplog.
    boost::asio::awaitable<error::result<std::optional<oplog_history::window>>> oplog();
    boost::asio::awaitable<error::result<void>> compare_with_oplog();
    boost::asio::awaitable<error::result<void>> prove();
    /// After 10334. True when the stream is to be opened again at once; else `d` is what has to be
    /// decided about.
    boost::asio::awaitable<bool> handle_too_large(error::diagnostics& d);
    boost::asio::awaitable<error::result<event_outline>> find_next();
    boost::asio::awaitable<std::string> name_next();
    /// False when the stream is over.
    boost::asio::awaitable<bool> recover(cursor::phase where, error::diagnostics d);
    void move();
    bool must_move() const noexcept { return watch_ && watch_->moved(); }
    /// As `recover`; `d` is changed to what to say when the stream is over.
    boost::asio::awaitable<bool> recover_lost(error::diagnostics d, std::string why);
    boost::asio::awaitable<error::result<std::optional<bool>>>
    is_within(std::optional<oplog_history::window> oplog, bson::timestamp since);
    boost::asio::awaitable<void> pause(std::chrono::milliseconds delay);
    std::unique_ptr<stream_batch> make_batch(fetched taken);
    void hand_over(cursor::change_reply reply, std::optional<event::position> end);
    void open_for_caller();
    void note_trouble(const error::diagnostics& d);
    void note_recovery();
    cdc::source::state state() const;
    void log_opening(bool from_now);
    void end_with(error::diagnostics d);

    log::logger logger_;
    std::unique_ptr<cursor::command_runner> runner_;
    stream_settings settings_;
    filters filters_;
    cursor::resume_policy policy_;
    cursor::stream_features features_;
    cursor::oversize_policy oversize_;
    oplog_history history_;
    cursor::change_cursor cursor_;
    stream_progress progress_;
    old_session session_;
    std::unique_ptr<primary_watch> watch_;
    oplog_headroom headroom_;
    bson::timestamp stored_;             ///< time of the lowest stored position; zero: none yet
    bool anew_ = false;                  ///< nothing was stored, the beginning is not given out yet
    unsigned start_races_ = 0;           ///< the oldest entry left the oplog while it was opened at
    std::optional<beginning> beginning_; ///< to be given out when the server has shown to have it
    std::optional<gap> gap_;             ///< to be told with the next opening
    std::uint64_t gaps_ = 0;

    runtime::task_group tasks_;
    runtime::wake_slot consumer_; ///< start and next_batch wait here
    runtime::wake_slot fetcher_;  ///< run_fetch waits here, for room or for time to pass
    runtime::wake_slot stopper_;  ///< stop waits here for the end of run_fetch

    std::optional<fetched> waiting_;
    cursor::split_event fragments_;            ///< of the event that the reply given out last began
    std::optional<error::diagnostics> failed_; ///< given out behind what waits
    flight in_flight_ = flight::none;
    bool connected_ = false;
    bool opened_ = false; ///< once
    /// Since the first fault that keeps it from reading, until a getMore is answered again, or the
    /// stream is open and nobody wants more for the moment.
    std::optional<std::chrono::system_clock::time_point> troubled_since_;
    std::string trouble_; ///< the last fault, safe to show
    bool cancelled_ = false;
    bool fetching_ = false;

    std::string set_name_;
    std::string server_version_;
    std::string host_;
    std::uint64_t reopened_ = 0;
    std::uint64_t moved_ = 0;
    std::uint64_t skipped_ = 0;
    std::uint64_t oversized_ = 0;
};

} // namespace cdc::mongodb::streaming
