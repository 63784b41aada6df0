// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/stream_features.hpp"

#include <algorithm>
#include <array>

namespace cdc::mongodb::cursor {

namespace {

constexpr std::string_view split_stage = "$changeStreamSplitLargeEvent";

/// What servers say to an option of a stage that they do not know.
constexpr std::array refusals = {
    2,     // BadValue
    9,     // FailedToParse
    14,    // TypeMismatch
    59,    // CommandNotFound
    72,    // InvalidOptions
    115,   // CommandNotSupported
    238,   // NotImplemented
    40415, // unknown field of a stage
};
/// Unknown stage.
constexpr int unknown_stage = 40324;
/// Also what a server says to the position of a split event's fragment on a stream that does not
/// split.
constexpr int fatal = 280;
/// The position is lost, whatever the text names.
constexpr std::array lost = {136, 280, 286};

bool says(const error::diagnostics& d, std::string_view word) {
    return d.server_text.find(word) != std::string::npos;
}

template <class Codes>
bool among(const Codes& codes, int code) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

} // namespace

void stream_features::on_connected(std::string_view version) {
    if (version == version_)
        return;
    version_ = version;
    start_after_ = true;
    split_ = true;
}

stream_features::verdict stream_features::on_opening_error(const error::diagnostics& d,
                                                           bool used_start_after) {
    verdict out;
    if (d.code == error::errc::server && d.server_code == fatal && !split() &&
        says(d, split_stage)) {
        wants_split_ = split_ = true;
        out.what = verdict::kind::open_again;
        out.text = "the position is one of an event that was split: it can only be resumed at by a "
                   "stream that splits";
        return out;
    }
    if (d.code != error::errc::server || among(lost, d.server_code))
        return out;
    if (split() && (d.server_code == unknown_stage || says(d, split_stage))) {
        if (!unsplit_allowed_) {
            out.what = verdict::kind::fail;
            out.text = "the server refuses to split large events, which MongoDB can since 6.0.9: "
                       "change cursor.oversize.handling.mode, or set cursor.oversize.split.refused "
                       "to unsplit";
            return out;
        }
        split_ = false;
        out.what = verdict::kind::open_again;
        out.text = "the server refuses to split large events: the stream goes on without, and an "
                   "event above the server's size limit will end it";
        return out;
    }
    if (used_start_after && start_after_ &&
        (among(refusals, d.server_code) || says(d, "startAfter"))) {
        start_after_ = false;
        out.what = verdict::kind::open_again;
        out.text = "the server refuses startAfter: behind the end of what was dropped or renamed "
                   "the stream is opened by time";
    }
    return out;
}

} // namespace cdc::mongodb::cursor
