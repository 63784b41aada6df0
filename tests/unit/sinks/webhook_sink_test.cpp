// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/webhook_sink.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_receiver.hpp"
#include "tests/support/sink_conformance.hpp"
#include "tests/support/webhook_stage.hpp"

using namespace cdc;

namespace {

std::string percent_decode(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%') {
            out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

} // namespace

TEST_CASE("webhook sink conforms", "[sinks][webhook]") {
    test::check_sink([] {
        auto receiver = std::make_shared<test::http_receiver>();
        test::sink_subject s;
        s.make = [receiver](sink::context c) {
            return std::make_unique<webhook::webhook_sink>(std::move(c),
                                                           test::quick_webhook(receiver->url()));
        };
        s.delivered = [receiver] {
            std::vector<test::delivered_record> out;
            for (const auto& r : receiver->requests()) {
                test::delivered_record d;
                d.topic = r.header("x-mongocdc-topic");
                d.key = percent_decode(r.header("x-mongocdc-key"));
                if (r.body != "null")
                    d.value = r.body;
                out.push_back(std::move(d));
            }
            return out;
        };
        return s;
    });
}

TEST_CASE("a sink says how it fares", "[sinks][webhook]") {
    CHECK(std::string(sink::name(sink::activity::ok)) == "ok");
    CHECK(std::string(sink::name(sink::activity::retrying)) == "retrying");
    test::http_receiver receiver;
    test::webhook_stage stage(test::quick_webhook(receiver.url()));
    CHECK(stage.status().now == sink::activity::ok);
    CHECK(stage.status().attempts == 0);
}
