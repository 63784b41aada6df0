// SPDX-License-Identifier: Apache-2.0
#include "sinks/discard/discard_sink.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sink_conformance.hpp"

TEST_CASE("discard sink conforms", "[sinks][discard]") {
    cdc::test::check_sink([] {
        cdc::test::sink_subject s;
        s.make = [](cdc::sink::context c) {
            return std::make_unique<cdc::discard::discard_sink>(std::move(c));
        };
        return s;
    });
}
