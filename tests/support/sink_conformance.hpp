// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sinks/sink.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdc::test {

/// A record as it is found at a sink's destination.
struct delivered_record {
    std::string topic;
    std::string key;
    std::optional<std::string> value;
    bool operator==(const delivered_record&) const = default;
};

/// A kind of sink with a destination of its own, for the suite.
struct sink_subject {
    /// A sink that writes to the destination; called several times, one after the other.
    std::function<std::unique_ptr<sink::sink>(sink::context)> make;
    /// All that is at the destination, in order; left out for a sink that keeps nothing.
    std::function<std::vector<delivered_record>()> delivered;
};

/// What every sink must do (sinks/README.md). Call it from a TEST_CASE of its own; the cases are
/// sections. `fresh` makes a subject with an empty destination:
///     TEST_CASE("file sink conforms", "[sinks]") { check_sink(fresh_file_subject); }
void check_sink(const std::function<sink_subject()>& fresh);

} // namespace cdc::test
