// SPDX-License-Identifier: Apache-2.0
#include "core/config/nearest.hpp"
#include "tests/support/catch.hpp"

#include <string>

using cdc::config::nearest;

TEST_CASE("nearest finds what was meant and nothing far away", "[config]") {
    const std::vector<std::string_view> known = {"topic.prefix", "capture.mode", "capture.scope",
                                                 "max.queue.size", "max.queue.size.in.bytes"};
    const auto [given, meant] = GENERATE(table<std::string, std::string>({
        {"topic.prefx", "topic.prefix"},
        {"topic.perfix", "topic.prefix"}, // a swap is one step
        {"topic_prefix", "topic.prefix"},
        {"TOPIC.PREFIX", "topic.prefix"},
        {"topic-prefix", "topic.prefix"},
        {"capture.mod", "capture.mode"},
        {"max.queue.sise", "max.queue.size"},
        {"max.queue.size.bytes", "max.queue.size.in.bytes"},
        {"completely.different", ""},
        {"", ""},
        {"x", ""},
        {std::string(100000, 'a'), ""},
    }));
    CAPTURE(given.substr(0, 50));
    CHECK(nearest(given, known) == meant);
}
