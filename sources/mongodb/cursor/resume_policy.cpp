// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/resume_policy.hpp"

#include <fmt/format.h>

namespace cdc::mongodb::cursor {

namespace {

enum class verdict {
    retry_connected, ///< the server is fine, the cursor or command is not
    retry_reconnect,
    reopen,
    reopen_elsewhere,
    dead,
    dead_with_token,    ///< dead when a token was sent
    refused_with_token, ///< refused when a token was sent
    bad_pipeline,       ///< while opening
    unauthorized,
    authentication,
    standalone,
    view,
    refused,
    oversize,
    unknown,
};

verdict verdict_of(int code) {
    switch (code) {
    case 24:    // LockTimeout
    case 43:    // CursorNotFound
    case 50:    // MaxTimeMSExpired
    case 134:   // ReadConcernMajorityNotAvailableYet
    case 202:   // NetworkInterfaceExceededTimeLimit
    case 262:   // ExceededTimeLimit
    case 365:   // TemporarilyUnavailable
    case 11601: // Interrupted
        return verdict::retry_connected;
    case 6:     // HostUnreachable
    case 7:     // HostNotFound
    case 89:    // NetworkTimeout
    case 91:    // ShutdownInProgress
    case 189:   // PrimarySteppedDown
    case 9001:  // SocketException
    case 10107: // NotWritablePrimary
    case 11600: // InterruptedAtShutdown
    case 11602: // InterruptedDueToReplStateChange
    case 13435: // NotPrimaryNoSecondaryOk
    case 13436: // NotPrimaryOrSecondary
        return verdict::retry_reconnect;
    case 222: // CloseChangeStream
    case 234: // RetryChangeStream
    case 237: // CursorKilled
        return verdict::reopen;
    case 133: // FailedToSatisfyReadPreference
        return verdict::reopen_elsewhere;
    case 136: // CappedPositionLost
    case 280: // ChangeStreamFatalError
    case 286: // ChangeStreamHistoryLost
        return verdict::dead;
    case 9:  // FailedToParse: the token is not hex
    case 15: // Overflow: the token ends too early
        return verdict::dead_with_token;
    case 260:   // InvalidResumeToken
    case 50811: // token of a kind the server does not know
        return verdict::refused_with_token;
    case 2:     // BadValue
    case 14:    // TypeMismatch
    case 72:    // InvalidOptions
    case 73:    // InvalidNamespace
    case 168:   // InvalidPipelineOperator
    case 40323: // a stage must have one field
    case 40324: // unknown stage
    case 40415: // unknown field of a stage
    case 51091: // a regular expression does not compile
        return verdict::bad_pipeline;
    case 13: // Unauthorized
        return verdict::unauthorized;
    case 18: // AuthenticationFailed
        return verdict::authentication;
    case 40573: // $changeStream needs a replica set
        return verdict::standalone;
    case 166: // CommandNotSupportedOnView
        return verdict::view;
    case 20: // IllegalOperation
        return verdict::refused;
    case 10334: // BSONObjectTooLarge
        return verdict::oversize;
    default:
        return verdict::unknown;
    }
}

resume_action stop(resume_action::kind what, std::string text) {
    resume_action a;
    a.what = what;
    a.text = std::move(text);
    return a;
}

/// `words` in front of what we said about the error already. The server's own text stays out: it
/// may hold user data.
std::string in_context(std::string words, const error::diagnostics& d) {
    if (!d.text.empty())
        words += ": " + d.text;
    return words;
}

resume_action failed(std::string words, const error::diagnostics& d) {
    return stop(resume_action::kind::fail, in_context(std::move(words), d));
}

constexpr const char* bad_credentials =
    "the server refuses the credentials; check mongodb.user, mongodb.password, mongodb.authsource "
    "and the connection string";
constexpr const char* bad_pipeline = "the server does not understand the change stream's pipeline";

} // namespace

resume_policy::resume_policy(std::string target, pipeline::retry_policy::limits backoff,
                             std::uint64_t seed)
    : target_(std::move(target))
    , backoff_(backoff, seed) {}

void resume_policy::on_progress() noexcept {
    backoff_.reset();
    failures_ = 0;
    bounded_ = 0;
    patient_ = 0;
}

void resume_policy::on_moved() noexcept {
    backoff_.reset();
    patient_ = election_attempts;
}

resume_action resume_policy::retry(bool reconnect, bool at_once) {
    resume_action a;
    a.what = resume_action::kind::retry;
    a.reconnect = reconnect;
    // The driver's client must rest for the backoff's first step before it looks for servers again.
    const bool skip_wait = at_once && !reconnect && failures_ == 1;
    if (!skip_wait)
        a.delay = backoff_.next();
    if (reconnect && patient_ > 0) {
        --patient_;
        backoff_.reset();
    }
    return a;
}

resume_action resume_policy::bounded(std::string words, const error::diagnostics& d) {
    if (++bounded_ < bounded_attempts)
        return retry(true, false);
    return failed(fmt::format("{} ({} attempts at the same position)", words, bounded_), d);
}

resume_action resume_policy::bad_login(const error::diagnostics& d) {
    // A server that is going down or overloaded refuses a login too, and the driver does not tell
    // why.
    if (logged_in_)
        return bounded("the server refuses credentials that it took before", d);
    return failed(bad_credentials, d);
}

resume_action resume_policy::on_error(phase where, const error::diagnostics& d) {
    ++failures_;
    switch (d.code) {
    case error::errc::network:
    case error::errc::timeout:
        return retry(true, false);
    case error::errc::authentication:
        return bad_login(d);
    case error::errc::server:
        return on_server_error(where, d);
    case error::errc::protocol:
    case error::errc::bad_data:
    case error::errc::io:
        return bounded("the server's answer cannot be used", d);
    default:
        return failed("the change stream cannot go on", d);
    }
}

resume_action resume_policy::on_server_error(phase where, const error::diagnostics& d) {
    const bool opening = where == phase::opening_with_token || where == phase::opening_without;
    const auto what = verdict_of(d.server_code);
    // The label is the server's word about errors that clients need not know by number; it has no
    // say about a position that is known to be dead.
    if (what != verdict::dead && d.has_label("ResumableChangeStreamError"))
        return retry(what != verdict::retry_connected, false);
    switch (what) {
    case verdict::retry_connected:
        return retry(false, false);
    case verdict::retry_reconnect:
        return retry(true, false);
    case verdict::reopen:
        return retry(false, true);
    case verdict::reopen_elsewhere:
        return retry(true, true);
    case verdict::dead:
        return stop(resume_action::kind::position_dead,
                    in_context("the server's history does not reach back to it", d));
    case verdict::dead_with_token:
        if (where == phase::opening_with_token)
            return stop(resume_action::kind::position_dead,
                        in_context("the server does not take it for a resume token", d));
        if (opening && d.server_code == 9)
            return failed(bad_pipeline, d);
        break;
    case verdict::refused_with_token:
        if (where == phase::opening_with_token)
            return stop(resume_action::kind::position_refused,
                        in_context("the server does not accept the resume token; is it of another "
                                   "deployment?",
                                   d));
        break;
    case verdict::bad_pipeline:
        if (opening)
            return failed(bad_pipeline, d);
        break;
    case verdict::unauthorized:
        return failed(fmt::format("the user lacks the rights changeStream and find on {}", target_),
                      d);
    case verdict::authentication:
        return bad_login(d);
    case verdict::standalone:
        return failed("the server is a standalone; change streams need a replica set (one member "
                      "is enough)",
                      d);
    case verdict::view:
        return failed(fmt::format("{} is a view, which has no changes of its own", target_), d);
    case verdict::refused:
        return failed("the server refuses the change stream", d);
    case verdict::oversize:
        return bounded("an event is larger than the server can send", d);
    case verdict::unknown:
        break;
    }
    return bounded("the server keeps refusing", d);
}

} // namespace cdc::mongodb::cursor
