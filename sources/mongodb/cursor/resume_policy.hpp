// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/diagnostics.hpp"
#include "core/pipeline/retry_policy.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace cdc::mongodb::cursor {

/// What was being done when an error came.
enum class phase {
    connecting,         ///< finding a server, authenticating, first looks at it
    opening_without,    ///< aggregate of a stream from now or from a time
    opening_with_token, ///< aggregate of a stream behind a token
    get_more,           ///< getMore, also the first one
};

/// What to do about it.
struct resume_action {
    enum class kind {
        retry,            ///< wait `delay`, then open at the same position again
        position_dead,    ///< the position is not on the server any more
        position_refused, ///< the server knows what it is, but does not take it
        fail,             ///< give up; `text` says why in a way that tells what to do
    };
    kind what = kind::fail;
    std::chrono::milliseconds delay{0}; ///< retry: to wait first, counted from the error
    bool reconnect = false;             ///< retry: look for a server again before opening
    /// fail, position_dead, position_refused: the cause for people, safe to show; without the
    /// server's own text.
    std::string text;
};

/// Decides without I/O what an error of a change stream means. The codes and where they come from
/// were seen on a real 4.4.0, the others are in the server's error_codes.yml.
///
/// - For ever, with backoff: network trouble and timeouts of ours; 6, 7, 24, 43, 50, 89, 91, 134,
///   189, 202, 262, 365, 9001, 10107, 11600, 11601, 11602, 13435, 13436; anything labelled
///   ResumableChangeStreamError.
/// - Reopened, the first time at once: 133, 222, 234, 237.
/// - Position dead: 286, 280, 136; when a token was sent also 9 and 15 (not a token at all, so of
///   no use to any server).
/// - Position refused: 260, 50811 when a token was sent (a token of another kind of deployment, or
///   one that no stream may go on behind).
/// - Never again: authentication (18 and the driver's own refusal) before a server has taken the
///   credentials once, afterwards a bounded number of times; 13, 40573, 166, 20, what
///   a server says to a pipeline it does not understand while opening, and every error that no
///   server gave and no connection (configuration, unsupported, …).
/// - `bounded_attempts` times without progress, then never again: 10334 (an event above the
///   server's size limit) and everything unknown, answers that break the protocol included.
///
/// Used from one reactor.
class resume_policy {
  public:
    static constexpr unsigned bounded_attempts = 3;
    static constexpr unsigned election_attempts = 20;

    /// `target`: what the stream is opened on, in words, for texts about rights.
    resume_policy(std::string target, pipeline::retry_policy::limits backoff, std::uint64_t seed);

    /// An error other than `cancelled` came in `where`.
    resume_action on_error(phase where, const error::diagnostics& d);

    /// A server took the credentials, so that a later refusal is tried again.
    void on_login() noexcept { logged_in_ = true; }

    /// Events or a later position came: forget earlier trouble. A reply that moves nothing is no
    /// progress, or an error that comes back behind each such reply would never be bounded.
    void on_progress() noexcept;

    /// The stream leaves a member that is no longer the primary, which is no error. Until progress
    /// the next `election_attempts` looks for a server follow each other by the backoff's first
    /// step: an election takes seconds.
    void on_moved() noexcept;

    /// Errors since the last progress.
    unsigned failures() const noexcept { return failures_; }

  private:
    resume_action retry(bool reconnect, bool at_once);
    resume_action bounded(std::string words, const error::diagnostics& d);
    resume_action bad_login(const error::diagnostics& d);
    resume_action on_server_error(phase where, const error::diagnostics& d);

    std::string target_;
    pipeline::retry_policy backoff_;
    bool logged_in_ = false;
    unsigned failures_ = 0;
    unsigned bounded_ = 0;
    unsigned patient_ = 0; ///< attempts left that do not lengthen the backoff
};

} // namespace cdc::mongodb::cursor
