// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cdc::mongodb::cursor {

/// cursor.oversize.handling.mode
enum class oversize_mode { fail, skip, split };

/// Decides without I/O what follows the server's 10334: an event above its size limit. The error
/// (seen on 4.4.0) ends the whole getMore with the events in front of the large one, and the
/// cursor, and says nothing that could be relied on about the event. So the stream is read on from
/// the position in single events: those in front arrive, and when the error comes back the next
/// event behind the position is the large one. Used from one reactor.
class oversize_policy {
  public:
    explicit oversize_policy(oversize_mode mode) noexcept
        : mode_(mode) {}

    enum class step {
        read_singly, ///< open again at once; `batch_size` is 1 from now on
        pass_by,     ///< go on behind the next event, whose token must be found out
        attempt,     ///< as any error that may come back: bounded attempts, then failed
    };
    /// 10334 came for a getMore.
    step on_too_large() noexcept;

    /// How many events the next getMore may ask for; `usual` but while they are read singly.
    std::int32_t batch_size(std::int32_t usual) const noexcept { return singly_ ? 1 : usual; }

    /// A reply moved the position. An empty one means that nothing more was there, so that the
    /// event has become smaller (a document looked up has changed).
    void on_progress(bool empty) noexcept {
        if (empty)
            singly_ = false;
    }
    /// The large event lies behind.
    void on_passed() noexcept { singly_ = false; }

  private:
    oversize_mode mode_;
    bool singly_ = false;
};

} // namespace cdc::mongodb::cursor
