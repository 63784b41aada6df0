// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace cdc::mongodb::streaming {

/// What to do about stored positions that the server does not take any more.
struct loss_settings {
    bool go_on_from_now = false;       ///< on.lost.position: from_now
    bool read_again_from_time = false; ///< on.token.not.found: from_time
};

/// What is known of such a position.
struct lost_position {
    int server_code = 0; ///< 286, 280, 136 …
    /// Whether the oplog holds what happened at its time; nothing: not known. Only 280 asks: the
    /// server says it both of events that left the oplog and, on a fault of its own, of events that
    /// are still there (SERVER-32349, SERVER-74716), and of those of another deployment.
    std::optional<bool> within_oplog;
    bool at_its_time = false; ///< the stream was opened at its time already, not behind it
    bool is_start = false;    ///< a start point that was configured; nothing is stored yet
    /// It is one of a fragment of a split event. With a document that was looked up the server may
    /// not split the event again as it did, and then does not find it.
    bool is_fragment = false;
    /// The oplog could be read. A server whose set was made anew opens a stream at any earlier
    /// time, so its word alone does not bear reading again from a time.
    bool oplog_known = true;
};

enum class loss_answer { fail, go_on_from_now, read_again_from_time };

/// Decides without I/O. Only a position that truly left the oplog is given up; only a position that
/// is still within it is read again, and only once.
constexpr loss_answer answer_to_loss(const loss_settings& s, const lost_position& p) noexcept {
    constexpr int fatal_error = 280;
    if (p.is_start)
        return loss_answer::fail;
    if (p.server_code == fatal_error && p.within_oplog.value_or(true))
        return ((s.read_again_from_time && p.oplog_known) || p.is_fragment) && p.within_oplog &&
                       !p.at_its_time
                   ? loss_answer::read_again_from_time
                   : loss_answer::fail;
    return s.go_on_from_now ? loss_answer::go_on_from_now : loss_answer::fail;
}

} // namespace cdc::mongodb::streaming
