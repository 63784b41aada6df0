// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/diagnostics.hpp"

#include <string>
#include <string_view>

namespace cdc::mongodb::cursor {

/// What not every server has of change streams: found out by asking for it, not by the version
/// number, which compatible servers set as they like. Decides without I/O; used from one reactor.
///
/// - `startAfter` (MongoDB 4.2), asked for behind an invalidate. Without it the stream is opened at
///   the time behind the invalidate's.
/// - The stage that splits large events (MongoDB 6.0.9), asked for when `split`. Without it the
///   stream fails, or goes on unsplit when `unsplit_allowed`. It is also used, whatever was
///   configured, when the position turns out to be one of a split event, which a stream without the
///   stage refuses.
class stream_features {
  public:
    stream_features(bool split, bool unsplit_allowed)
        : wants_split_(split)
        , unsplit_allowed_(unsplit_allowed) {}

    bool start_after() const noexcept { return start_after_; }
    bool split() const noexcept { return wants_split_ && split_; }

    /// A server of this version is connected: one of another version is asked anew.
    void on_connected(std::string_view version);

    struct verdict {
        enum class kind {
            unrelated,  ///< the error is about something else
            open_again, ///< at once, without what the server lacks; `text` is for the log
            fail,       ///< `text` says what is lacking and what to do
        };
        kind what = kind::unrelated;
        std::string text;
    };
    /// The server's answer to a stream that was to be opened with what `start_after` (when
    /// `used_start_after`) and `split` said.
    verdict on_opening_error(const error::diagnostics& d, bool used_start_after);

  private:
    bool wants_split_;
    bool unsplit_allowed_;
    bool start_after_ = true;
    bool split_ = true;
    std::string version_;
};

} // namespace cdc::mongodb::cursor
