// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/options.hpp"
#include "sinks/webhook/signature.hpp"
#include "tests/unit/app/written.hpp"

#include <string>

using namespace cdc;
using namespace std::chrono_literals;
using cdc::test::mistakes_of;
using cdc::test::with;
using cdc::test::written;

namespace {

constexpr const char* secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

webhook::webhook_options options_of(const written& in) {
    return webhook::make_webhook_options(in.good().connectors.at(0).sinks.at(0).options);
}

} // namespace

TEST_CASE("webhook options: what a URL alone means", "[webhook][config]") {
    const auto o = options_of(written(with("", "type: webhook, url: 'https://h.example/x?y=z'")));
    CHECK(o.url.tls);
    CHECK(o.url.host == "h.example");
    CHECK(o.url.target == "/x?y=z");
    CHECK(o.signing_key.empty());
    CHECK(o.bearer_token.empty());
    CHECK(o.ca_file.empty());
    CHECK(o.connect_timeout == 5s);
    CHECK(o.write_timeout == 30s);
    CHECK(o.answer_timeout == 30s);
    CHECK(o.retry.first == 500ms);
    CHECK(o.retry.cap == 30s);
    CHECK(o.retry_after_cap == 1h);
}

TEST_CASE("webhook options: everything given", "[webhook][config]") {
    const written in(with("", std::string("type: webhook, url: 'https://h/', secret: ") + secret +
                                  ", bearer.token: abc.DEF-1_~+/==, tls.ca.file: ca.pem, "
                                  "connect.timeout.ms: 1, write.timeout.ms: 2, "
                                  "answer.timeout.ms: 3, retry.first.ms: 4, retry.cap.ms: 5, "
                                  "retry.after.cap.ms: 6, schemas.enable: false"));
    const auto o = options_of(in);
    CHECK(o.signing_key == *webhook::parse_secret(secret));
    CHECK(o.bearer_token == "abc.DEF-1_~+/==");
    CHECK(o.ca_file == in.folder() / "ca.pem");
    CHECK(o.connect_timeout == 1ms);
    CHECK(o.write_timeout == 2ms);
    CHECK(o.answer_timeout == 3ms);
    CHECK(o.retry.first == 4ms);
    CHECK(o.retry.cap == 5ms);
    CHECK(o.retry_after_cap == 6ms);
}

TEST_CASE("fault 146: webhook options: secrets are known as such", "[webhook][config][fault-146]") {
    const auto read =
        written(with("", std::string("type: webhook, url: 'https://h/?t=abc', secret: ") + secret +
                             ", bearer.token: tok-en"))
            .good();
    for (const char* hidden : {"https://h/?t=abc", secret, "tok-en"})
        CHECK(std::count(read.secrets.begin(), read.secrets.end(), hidden) == 1);
    for (const char* name : {"url", "secret", "bearer.token"})
        CHECK(read.connectors.at(0).sinks.at(0).options.shown(name) == "***");
}

TEST_CASE("mistakes of webhook sinks", "[webhook][config]") {
    const auto [sink, wanted] = GENERATE(table<std::string, std::string>({
        {"", "sinks.out.url: is missing"},
        {"url: h/xyzzy", "sinks.out.url: "},
        {"url: 'http://user:xyzzy@h/'", "holds user information"},
        {"url: 'http://h/', secret: whsec_QUJDREVGR0hJSg==", "secret"},
        {"url: 'http://h/', secret: MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
         "does not begin with whsec_"},
        {"url: 'http://h/', secret: whsec_xyzzy!", "is not base64"},
        {"url: 'http://h/', bearer.token: Bearer xyzzy", "without the word Bearer"},
        {"url: 'http://h/', bearer.token: ==", "is no bearer token"},
        {"url: 'http://h/', bearer.token: " + std::string(8193, 'x'), "is longer than 8192"},
        {"url: http://h/" + std::string(8192, 'x'), "is longer than 8192"},
        {"url: 'http://h/', tls.ca.file: x", "has no meaning without https://"},
        {"url: 'http://h/', retry.first.ms: 10, retry.cap.ms: 9", "is less than retry.first.ms"},
        {"url: 'http://h/', connect.timeout.ms: 0", "is out of range"},
        {"url: 'http://h/', write.timeout.ms: 1s", "write.timeout.ms"},
        {"url: 'http://h/', answer.timeout.ms: -1", "is out of range"},
        {"url: 'http://h/', retry.after.cap.ms: 99999999999", "is out of range"},
        {"url: 'http://h/', timeout.ms: 5", "is not a known key"},
    }));
    CAPTURE(sink);
    const auto found = mistakes_of("", sink.empty() ? "type: webhook" : "type: webhook, " + sink);
    REQUIRE(found.size() == 1);
    CHECK(found[0].find("connectors.a.") == 0);
    CHECK(found[0].find(wanted) != std::string::npos);
    for (const char* hidden : {"xyzzy", "QUJDREVG", "MfKQ"})
        CHECK(found[0].find(hidden) == std::string::npos);
}
