// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/answer_policy.hpp"
#include "sinks/webhook/message_id.hpp"
#include "sinks/webhook/percent_encoding.hpp"
#include "sinks/webhook/record_request.hpp"
#include "sinks/webhook/retry_after.hpp"
#include "sinks/webhook/retry_plan.hpp"
#include "sinks/webhook/signature.hpp"
#include "sinks/webhook/target_url.hpp"
#include "tests/support/catch.hpp"

#include <set>
#include <string>

using namespace cdc;
using namespace std::chrono_literals;
using std::chrono::seconds;

namespace {

constexpr const char* published_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

std::optional<seconds> retry_after(std::string_view text) {
    // Sun, 06 Nov 1994 08:49:37 GMT, the date in RFC 9110's examples, less ten seconds
    const std::chrono::system_clock::time_point now(seconds{784111777 - 10});
    return webhook::parse_retry_after(text, now);
}

std::string header(const webhook::http_request& request, std::string_view name) {
    std::string out;
    for (const auto& [is, value] : request.headers)
        if (is == name)
            out += out.empty() ? value : " | " + value;
    return out;
}

event::record some_record() {
    event::record r;
    r.topic = "p.db.c";
    r.key = R"({"id":"{\"$oid\": \"ü\"}"})";
    r.value = R"({"op":"u"})";
    r.op = event::operation::update;
    r.token = "8264A";
    return r;
}

} // namespace

TEST_CASE("webhook signatures are those of Standard Webhooks", "[webhook]") {
    const auto key = webhook::parse_secret(published_secret);
    REQUIRE(key);
    const webhook::signer signer(*key);
    for (int again = 0; again < 2; ++again)
        CHECK(signer.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})") ==
              "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST_CASE("fault 146: webhook secrets are 24 to 64 bytes of base64 behind whsec_",
          "[webhook][fault-146]") {
    const auto secret = [](std::size_t bytes) {
        std::string out = "whsec_";
        for (std::size_t i = 0; i < bytes / 3; ++i)
            out += "QUJD";
        return out + (bytes % 3 == 1 ? "QQ==" : bytes % 3 == 2 ? "QUI=" : "");
    };
    for (const std::size_t bytes : {24, 25, 26, 63, 64}) {
        const auto key = webhook::parse_secret(secret(bytes));
        REQUIRE(key);
        CHECK(key->size() == bytes);
    }
    for (const std::size_t bytes : {0, 10, 23, 65, 66})
        CHECK_FALSE(webhook::parse_secret(secret(bytes)));
    for (const char* wrong :
         {"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not base64 at all, but long!!",
          "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
          "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}) {
        const auto refused = webhook::parse_secret(wrong);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error::errc::configuration);
        CHECK(refused.error().text.find("MfKQ") == std::string::npos);
    }
}

TEST_CASE("webhook ids are the hash of where a record comes from", "[webhook]") {
    // printf 'inventory\0out\0p.db.c\0008264\0000' | sha256sum
    CHECK(webhook::message_id("inventory", "out", "p.db.c", "8264", 0) ==
          "msg_15124d1972d8f4dc81753f6350086d39");
    std::set<std::string> ids;
    for (const char* connector : {"a", "b"})
        for (const char* sink : {"x", "y"})
            for (const char* topic : {"t", "u"})
                for (const char* token : {"8264", "8265"})
                    for (const std::uint32_t index : {0, 1}) {
                        const auto id = webhook::message_id(connector, sink, topic, token, index);
                        CHECK(id.size() == 36);
                        CHECK(id == webhook::message_id(connector, sink, topic, token, index));
                        ids.insert(id);
                    }
    CHECK(ids.size() == 32);
    CHECK(webhook::message_id("ab", "c", "t", "8", 0) !=
          webhook::message_id("a", "bc", "t", "8", 0));
}

TEST_CASE("keys are percent-encoded but for RFC 3986's unreserved characters", "[webhook]") {
    const std::string unreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    CHECK(webhook::percent_encode(unreserved) == unreserved);
    CHECK(webhook::percent_encode(R"({"id":"ü 1%"})") == "%7B%22id%22%3A%22%C3%BC%201%25%22%7D");
    CHECK(webhook::percent_encode(std::string_view("\0\r\n\x7f\xff", 5)) == "%00%0D%0A%7F%FF");
    CHECK(webhook::percent_encode("").empty());
}

TEST_CASE("Retry-After is read as seconds or a date of HTTP", "[webhook]") {
    CHECK(retry_after("7") == 7s);
    CHECK(retry_after("0") == 0s);
    CHECK(retry_after(" 120\t") == 120s);
    CHECK(retry_after("Sun, 06 Nov 1994 08:49:37 GMT") == 10s);
    CHECK(retry_after("Sunday, 06-Nov-94 08:49:37 GMT") == 10s);
    CHECK(retry_after("Sun Nov  6 08:49:37 1994") == 10s);
    CHECK(retry_after("Sun, 06 Nov 1994 08:49:26 GMT") == 0s); // has passed
    CHECK(retry_after("Mon, 01 Jan 1900 00:00:00 GMT") == 0s);
    // Numbers that no variable holds are long, not negative and not nothing.
    CHECK(retry_after("999999") == 999999s);
    CHECK(*retry_after("99999999999999999999999999") > std::chrono::hours{24 * 365 * 999});
    CHECK(*retry_after("Fri, 31 Dec 9999 23:59:59 GMT") > std::chrono::hours{24 * 365 * 999});
    for (const char* garbage :
         {"", " ", "abc", "-1", "+7", "7.5", "7 s", "7,8", "0x10", "Sun, 06 Nov 1994",
          "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT+1", "1994-11-06T08:49:37Z",
          "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 28:49:37 GMT", "٧"}) {
        INFO(garbage);
        CHECK_FALSE(retry_after(garbage));
    }
}

TEST_CASE("a date in Retry-After is never undercut", "[webhook]") {
    const std::chrono::system_clock::time_point now(seconds{784111777} - 9999ms);
    CHECK(webhook::parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now) == 10s);
}

TEST_CASE("fault 145: what a status means for a record", "[webhook][fault-145]") {
    using webhook::verdict;
    for (unsigned status = 0; status < 1000; ++status) {
        INFO(status);
        const auto expected = status >= 200 && status <= 299 ? verdict::delivered
                              : status == 408 || status == 429 || (status >= 500 && status <= 599)
                                  ? verdict::retry
                                  : verdict::refused;
        CHECK(webhook::judge(status) == expected);
    }
    for (const unsigned refused : {101, 301, 302, 304, 307, 308, 400, 401, 403, 404, 410, 413, 431})
        CHECK(webhook::judge(refused) == verdict::refused);
}

TEST_CASE("fault 143: waits grow, Retry-After lengthens them, a line a doubling",
          "[webhook][fault-143]") {
    webhook::retry_plan plan({100ms, 1000ms}, 60s, 1);
    std::vector<unsigned> said;
    for (unsigned n = 1; n <= 40; ++n) {
        const auto step = plan.failed(std::nullopt);
        CHECK(step.wait >= 100ms);
        CHECK(step.wait <= 1000ms);
        CHECK_FALSE(step.capped);
        if (step.say)
            said.push_back(n);
    }
    CHECK(said == std::vector<unsigned>{1, 2, 4, 8, 16, 32});
    CHECK(plan.failures() == 40);

    CHECK(plan.failed(7s).wait == 7s);
    CHECK(plan.failed(0s).wait >= 100ms); // the backoff stays
    CHECK(plan.failed(60s).wait == 60s);
    auto beyond = plan.failed(999999s);
    CHECK(beyond.wait == 60s);
    CHECK(beyond.capped);
    beyond = plan.failed(999999s);
    CHECK(beyond.wait == 60s);
    CHECK_FALSE(beyond.capped); // said once

    CHECK(plan.delivered() == 45);
    CHECK(plan.delivered() == 0);
    const auto first = plan.failed(999999s);
    CHECK(first.say);
    CHECK(first.capped);
}

TEST_CASE("a cap of zero means that Retry-After is not followed", "[webhook]") {
    webhook::retry_plan plan({100ms, 1000ms}, 0s, 1);
    const auto step = plan.failed(7s);
    CHECK(step.wait <= 1000ms);
    CHECK(step.capped);
}

TEST_CASE("faults 140 and 147: every header stands once in every attempt",
          "[webhook][fault-140][fault-147]") {
    const auto key = webhook::parse_secret(published_secret);
    const webhook::record_request requests("inventory", "out", webhook::signer(*key), "abc");
    const auto r = some_record();
    const auto id = requests.id_of(r);
    auto request = requests.make(r, id);
    REQUIRE(request);
    requests.stamp(*request, id, 1614265330);
    const auto names = request->headers.size();
    const auto first = header(*request, "webhook-signature");
    requests.stamp(*request, id, 1614265331);
    CHECK(request->headers.size() == names);
    std::set<std::string_view> unique;
    for (const auto& h : request->headers)
        unique.insert(h.first);
    CHECK(unique.size() == names);

    CHECK(header(*request, "content-type") == "application/json");
    CHECK(header(*request, "x-mongocdc-topic") == "p.db.c");
    CHECK(header(*request, "x-mongocdc-key") == webhook::percent_encode(r.key));
    CHECK(header(*request, "x-mongocdc-op") == "u");
    CHECK(header(*request, "webhook-id") == id);
    CHECK(header(*request, "webhook-timestamp") == "1614265331");
    CHECK(header(*request, "authorization") == "Bearer abc");
    CHECK(header(*request, "webhook-signature") ==
          webhook::signer(*key).sign(id, 1614265331, *r.value));
    CHECK(header(*request, "webhook-signature") != first);
    CHECK(request->body.data() == r.value->data()); // not copied
}

TEST_CASE("a tombstone is null and a delete", "[webhook]") {
    const webhook::record_request requests("inventory", "out", std::nullopt, "");
    auto r = some_record();
    r.value.reset();
    r.op = event::operation::remove;
    r.index = 1;
    const auto id = requests.id_of(r);
    auto request = requests.make(r, id);
    REQUIRE(request);
    requests.stamp(*request, id, 1);
    CHECK(request->body == "null");
    CHECK(header(*request, "x-mongocdc-op") == "d");
    CHECK(header(*request, "webhook-signature").empty());
    CHECK(header(*request, "authorization").empty());
    r.index = 0;
    CHECK(requests.id_of(r) != id);
}

TEST_CASE("each operation has its letter", "[webhook]") {
    const webhook::record_request requests("inventory", "out", std::nullopt, "");
    for (const auto op : {event::operation::create, event::operation::update,
                          event::operation::remove, event::operation::read}) {
        auto r = some_record();
        r.op = op;
        CHECK(header(*requests.make(r, "id"), "x-mongocdc-op") ==
              std::string(1, static_cast<char>(op)));
    }
}

TEST_CASE("a key that no header carries is an error", "[webhook]") {
    const webhook::record_request requests("inventory", "out", std::nullopt, "");
    auto r = some_record();
    std::string key(webhook::record_request::longest_key, 'a');
    r.key = key;
    CHECK(requests.make(r, "id"));
    key += 'a';
    r.key = key;
    const auto refused = requests.make(r, "id");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == error::errc::unsupported);
    CHECK(refused.error().text.find("p.db.c") != std::string::npos);
}

TEST_CASE("URLs are taken apart", "[webhook]") {
    struct row {
        const char *url, *host, *target, *authority, *shown;
        int port;
        bool tls;
    };
    for (const auto& row : {
             row{"http://h", "h", "/", "h", "h/", 80, false},
             row{"https://h.example/a/b?c=d&e", "h.example", "/a/b?c=d&e", "h.example",
                 "h.example/a/b", 443, true},
             row{"HTTP://127.0.0.1:8080/x", "127.0.0.1", "/x", "127.0.0.1:8080", "127.0.0.1:8080/x",
                 8080, false},
             row{"https://[::1]:444?q=%20", "::1", "/?q=%20", "[::1]:444", "[::1]:444/", 444, true},
             row{"https://[fe80::2]/", "fe80::2", "/", "[fe80::2]", "[fe80::2]/", 443, true},
             row{"http://h:443/", "h", "/", "h:443", "h:443/", 443, false},
         }) {
        INFO(row.url);
        const auto url = webhook::parse_target_url(row.url);
        REQUIRE(url);
        CHECK(url->host == row.host);
        CHECK(url->port == row.port);
        CHECK(url->target == row.target);
        CHECK(url->tls == row.tls);
        CHECK(url->authority() == row.authority);
        CHECK(url->shown() == row.shown);
    }
}

TEST_CASE("wrong URLs are refused without being repeated", "[webhook]") {
    for (const char* url : {"",
                            "h/xyzzy",
                            "ftp://xyzzy/",
                            "http://",
                            "http:///xyzzy",
                            "http://:80/xyzzy",
                            "http://xyzzy:/",
                            "http://xyzzy:0/",
                            "http://xyzzy:65536/",
                            "http://xyzzy:8x/",
                            "http://xyzzy:-1/",
                            "http://xyzzy:99999999999/",
                            "http://user:xyzzy@h/",
                            "http://xyzzy@h/",
                            "http://h/xyzzy y",
                            "http://h/xyzzy\r\nx: y",
                            "http://h/xyzzy%4",
                            "http://h/xyzzy%zz",
                            "http://h/#xyzzy",
                            "http://xyzzy{}/",
                            "http://h/{xyzzy}",
                            "http://[::1/xyzzy",
                            "http://[xyzzy]/",
                            "http://[::1]xyzzy/",
                            "http://xyzzyü/"}) {
        INFO(url);
        const auto refused = webhook::parse_target_url(url);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error::errc::configuration);
        CHECK(refused.error().text.find("xyzzy") == std::string::npos);
    }
}
