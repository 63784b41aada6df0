// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/event/position.hpp"
#include "tests/support/standin/replica_set.hpp"
#include "tests/support/tcp_gate.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cdc::test {

/// A replica set with a history of 1,000 changes, and the gate through which it is read.
class cut_stage {
  public:
    static constexpr std::size_t changes = 1000;

    /// `read_position` starts a stream from now, through the gate, and gives where that is: the
    /// place in front of the changes.
    explicit cut_stage(const std::function<event::position(const std::string& uri)>& read_position);

    std::string uri() const { return "mongodb://" + gate.host_port() + "/?replicaSet=rs0"; }
    /// One connection alone: whose messages come in the same order each time.
    std::string direct_uri() const { return uri() + "&directConnection=true"; }
    const event::position& begin() const noexcept { return begin_; }
    /// "insert 7 13": operation, _id and, but for deletes, the version.
    const std::vector<std::string>& written() const noexcept { return written_; }

    /// Cuts at this point, counted from now on.
    void cut_from_now(gate::cut at);

    standin::replica_set set;
    tcp_gate gate{set.port()};

  private:
    void write_changes();

    event::position begin_;
    std::vector<std::string> written_;
};

/// Sizes of the messages of one run in which nothing was cut, by gate::way.
using message_sizes = std::array<std::vector<std::size_t>, 2>;

/// Every boundary between the messages of a run, both ways, by RST and by FIN; and in every message
/// the points behind bytes 1, 4, 15, 16 and 17, in the middle and before the last byte.
std::vector<gate::cut> all_cuts(const message_sizes& run);

/// Cuts in words, for a failure.
std::string describe(const gate::cut& at);

/// Runs `one(stage, cut)` for every cut, each stage on a thread of its own. `one` gives what went
/// wrong, or nothing. Gives the first failures. Sanitizer builds take every seventh cut only.
std::vector<std::string> for_all_cuts(
    std::vector<std::unique_ptr<cut_stage>>& stages, const std::vector<gate::cut>& cuts,
    const std::function<std::string(cut_stage&, const gate::cut&, std::size_t number)>& one);

} // namespace cdc::test
