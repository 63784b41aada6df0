// SPDX-License-Identifier: Apache-2.0
// The webhook sink against a receiver that misbehaves: what is sent again, when, and what stops it.
#include "sinks/webhook/signature.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_receiver.hpp"
#include "tests/support/webhook_stage.hpp"

#include <fmt/format.h>

#include <ctime>
#include <set>

using namespace cdc;
using namespace std::chrono_literals;
using test::eventually;
using test::http_receiver;
using test::make_batch;
using test::quick_webhook;
using test::receiver_answer;
using test::record_spec;
using test::webhook_stage;

namespace {

constexpr const char* secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

receiver_answer status(unsigned code) {
    receiver_answer a;
    a.status = code;
    return a;
}
receiver_answer busy(unsigned code, const std::string& retry_after) {
    auto a = status(code);
    a.headers.emplace_back("Retry-After", retry_after);
    return a;
}
receiver_answer raw(const std::string& bytes) {
    receiver_answer a;
    a.raw = bytes;
    return a;
}

/// `count` records of `keys` keys, numbered from 1, with tokens of their own.
std::vector<record_spec> numbered(std::size_t count, std::size_t keys = 5) {
    std::vector<record_spec> out;
    for (std::size_t i = 1; i <= count; ++i) {
        record_spec r;
        r.key = fmt::format(R"({{"id":"{}"}})", i % keys);
        r.value = fmt::format(R"({{"n":{}}})", i);
        r.token = fmt::format("82{:06x}", i);
        out.push_back(r);
    }
    return out;
}

std::vector<std::uint64_t> up_to(std::uint64_t last) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 1; i <= last; ++i)
        out.push_back(i);
    return out;
}

} // namespace

TEST_CASE("a record is sent as a signed POST", "[webhook]") {
    http_receiver receiver;
    auto options = quick_webhook(receiver.url("/hook?token=abc%20d"));
    options.signing_key = *webhook::parse_secret(secret);
    options.bearer_token = "abc";
    webhook_stage stage(options, "inventory", "out");
    record_spec gone;
    gone.value.reset();
    gone.op = event::operation::remove;
    REQUIRE(stage.write({make_batch(1, {record_spec{}, gone})}));
    CHECK(stage.acknowledged() == up_to(2));

    const auto got = receiver.requests();
    REQUIRE(got.size() == 2);
    const auto& r = got[0];
    CHECK(r.method == "POST");
    CHECK(r.target == "/hook?token=abc%20d");
    CHECK(r.header("host") == fmt::format("127.0.0.1:{}", receiver.port()));
    CHECK(r.header("content-type") == "application/json");
    CHECK(r.header("content-length") == std::to_string(r.body.size()));
    CHECK(r.header("authorization") == "Bearer abc");
    CHECK(r.header("x-mongocdc-topic") == "p.db.c");
    CHECK(r.header("x-mongocdc-key") == "%7B%22id%22%3A%221%22%7D");
    CHECK(r.header("x-mongocdc-op") == "c");
    CHECK(r.header("user-agent").starts_with("mongocdc/"));
    CHECK(r.body == R"({"n":1})");
    CHECK(got[1].body == "null");
    CHECK(got[1].header("x-mongocdc-op") == "d");
    CHECK(receiver.connections() == 1);
    CHECK(stage.log().lines().empty());
}

TEST_CASE("faults 139 and 140: 503 three times, then 200: the event arrives, and the next one only "
          "after it",
          "[webhook][fault-139][fault-140]") {
    http_receiver receiver({status(503), status(500), status(503)});
    auto options = quick_webhook(receiver.url());
    options.signing_key = *webhook::parse_secret(secret);
    webhook_stage stage(options);
    REQUIRE(stage.write({make_batch(1, numbered(2))}));
    CHECK(stage.acknowledged() == up_to(2));

    const auto got = receiver.requests();
    REQUIRE(got.size() == 5);
    const webhook::signer signer(options.signing_key);
    for (std::size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].body == (i < 4 ? R"({"n":1})" : R"({"n":2})"));
        CHECK((got[i].header("webhook-id") == got[0].header("webhook-id")) == (i < 4));
        // Each attempt is dated and signed for itself.
        const auto at = std::stoll(got[i].header("webhook-timestamp"));
        CHECK(std::abs(at - std::chrono::system_clock::to_time_t(got[i].arrived_at)) <= 2);
        CHECK(got[i].header("webhook-signature") ==
              signer.sign(got[i].header("webhook-id"), at, got[i].body));
    }
    CHECK(receiver.connections() == 1); // an answer is no reason to hang up
}

TEST_CASE("headers do not pile up over 100 events, each sent twice", "[webhook]") {
    http_receiver receiver([](const test::received_request&, std::size_t n) {
        return status(n % 2 == 1 ? 503 : 200);
    });
    auto options = quick_webhook(receiver.url());
    options.signing_key = *webhook::parse_secret(secret);
    webhook_stage stage(options);
    std::vector<record_spec> records(100);
    for (std::size_t i = 0; i < records.size(); ++i)
        records[i].token = fmt::format("82{:06}", i);
    REQUIRE(stage.write({make_batch(1, records)}));

    const auto got = receiver.requests();
    REQUIRE(got.size() == 200);
    std::set<std::string> ids;
    for (std::size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].header_bytes() == got[0].header_bytes());
        std::set<std::string> names;
        for (const auto& h : got[i].headers)
            names.insert(h.first);
        CHECK(names.size() == got[i].headers.size());
        CHECK(got[i].header("webhook-id") == got[i / 2 * 2].header("webhook-id"));
        ids.insert(got[i].header("webhook-id"));
    }
    CHECK(ids.size() == 100);
}

TEST_CASE("order holds whatever fails, and nothing is missing", "[webhook]") {
    std::size_t delivered = 0;
    http_receiver receiver([&delivered](const test::received_request&, std::size_t n) {
        receiver_answer a;
        switch (n % 11) {
        case 1:
            return status(500);
        case 3:
            return busy(429, "0");
        case 4:
            a.close = true;
            return a;
        case 6:
            a.reset = true;
            return a;
        case 7:
            return raw("HTTP/1.1 200 OK\r\nContent-Le");
        case 9:
            return raw("SSH-2.0-OpenSSH_9.2\r\n");
        default:
            ++delivered;
            a.close_after = n % 11 == 10;
            return a;
        }
    });
    webhook_stage stage(quick_webhook(receiver.url()));
    REQUIRE(stage.write({make_batch(1, numbered(60)), make_batch(61, numbered(40))}));
    CHECK(stage.acknowledged() == up_to(100));
    CHECK(delivered >= 100);
    std::vector<std::string> bodies; // less the repeats, which must follow one another
    for (const auto& r : receiver.requests())
        if (bodies.empty() || bodies.back() != r.body)
            bodies.push_back(r.body);
    std::vector<std::string> expected;
    for (const std::size_t count : {60, 40})
        for (std::size_t i = 1; i <= count; ++i)
            expected.push_back(fmt::format(R"({{"n":{}}})", i));
    CHECK(bodies == expected);
}

TEST_CASE("faults 138 and 145: what is tried again, and under which name",
          "[webhook][fault-138][fault-145]") {
    receiver_answer closed, reset, stalled;
    closed.close = true;
    reset.reset = true;
    stalled.raw = "HTTP/1.1 200 OK\r\nContent-";
    stalled.stall = true;
    const auto [answer, reason] = GENERATE_COPY(table<receiver_answer, std::string>({
        {status(408), "answered 408 Request Timeout"},
        {status(429), "answered 429 Too Many Requests"},
        {status(500), "answered 500 Internal Server Error"},
        {status(502), "answered 502 Bad Gateway"},
        {status(599), "answered 599"},
        {closed, "the connection was closed without an answer"},
        {reset, "the connection was closed without an answer"},
        {raw("HTTP/1.1 200 OK\r\n"), "the connection was closed within the answer's header"},
        {stalled, "the answer took longer than 500 ms"},
        {raw("garbage\r\n\r\n"), "the answer is not HTTP/1"},
        {raw("HTTP/1.1 abc OK\r\n\r\n"), "the answer is not HTTP/1"},
        {raw("HTTP/2.0 200 OK\r\n\r\n"), "the answer is not HTTP/1"},
        // GOAWAY of HTTP/2
        {raw(std::string("\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0", 17)),
         "the answer is not HTTP/1"},
        {raw("HTTP/1.1 200 OK\r\nX: " + std::string(70000, 'x')),
         "the answer's header is larger than 16384 bytes"},
    }));
    CAPTURE(reason);
    http_receiver receiver({answer});
    auto options = quick_webhook(receiver.url());
    options.answer_timeout = 500ms;
    webhook_stage stage(options);
    REQUIRE(stage.write({make_batch(1, {record_spec{}})}));
    CHECK(stage.acknowledged() == up_to(1));
    const auto got = receiver.requests();
    REQUIRE(got.size() == 2);
    CHECK(got[0].header("webhook-id") == got[1].header("webhook-id"));
    CHECK(stage.log().count(reason) == 1);
    CHECK(stage.log().count("takes records again after 1 failed attempts") == 1);
    CHECK(stage.log().lines().size() == 2);
}

TEST_CASE("fault 145: what stops the sink", "[webhook][fault-145]") {
    const unsigned code = GENERATE(101u, 301u, 302u, 303u, 304u, 307u, 308u, 400u, 401u, 403u, 404u,
                                   410u, 413u, 431u, 600u);
    CAPTURE(code);
    auto answer = status(code);
    answer.headers.emplace_back("Location", "http://127.0.0.1:1/elsewhere");
    if (code != 101 && code != 304)
        answer.body = "server-text";
    http_receiver receiver({status(200), answer});
    webhook_stage stage(quick_webhook(receiver.url("/hook?token=hunter22")), "inventory", "out");
    auto records = numbered(3);
    records[1].key = R"({"id":"key-text"})";
    const auto written = stage.write({make_batch(1, records)});
    REQUIRE_FALSE(written);
    CHECK(written.error().code == error::errc::server);
    const auto text = written.error().describe();
    CHECK(text.find(fmt::format("webhook out (127.0.0.1:{}/hook) answered {}", receiver.port(),
                                code)) != std::string::npos);
    CHECK(text.find("topic p.db.c (msg_") != std::string::npos);
    for (const char* hidden : {"hunter22", "server-text", "key-text", "\"n\""})
        CHECK(text.find(hidden) == std::string::npos);
    CHECK(stage.acknowledged() == up_to(1));
    CHECK(receiver.count() == 2);

    const auto again = stage.write({make_batch(4, numbered(1))});
    REQUIRE_FALSE(again);
    CHECK(again.error().text == written.error().text);
    CHECK(receiver.count() == 2);
}

TEST_CASE("every 2xx acknowledges", "[webhook]") {
    http_receiver receiver({status(200), status(201), status(202), status(204), status(299)});
    webhook_stage stage(quick_webhook(receiver.url()));
    REQUIRE(stage.write({make_batch(1, numbered(5))}));
    CHECK(stage.acknowledged() == up_to(5));
    CHECK(receiver.count() == 5);
    CHECK(receiver.connections() == 1);
}

TEST_CASE("fault 143: Retry-After is obeyed", "[webhook][fault-143]") {
    SECTION("seconds") {
        http_receiver receiver({busy(429, "2")});
        webhook_stage stage(quick_webhook(receiver.url()));
        REQUIRE(stage.write({make_batch(1, {record_spec{}})}));
        const auto got = receiver.requests();
        REQUIRE(got.size() == 2);
        CHECK(got[1].arrived - got[0].arrived >= 2s);
        CHECK(got[1].arrived - got[0].arrived < 10s);
        CHECK(stage.log().count("again in 2000 ms") == 1);
    }
    SECTION("a date") {
        const std::time_t date = std::time(nullptr) + 3;
        char text[64];
        std::tm parts{};
        gmtime_r(&date, &parts);
        std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
        http_receiver receiver({busy(503, text)});
        webhook_stage stage(quick_webhook(receiver.url()));
        REQUIRE(stage.write({make_batch(1, {record_spec{}})}));
        const auto got = receiver.requests();
        REQUIRE(got.size() == 2);
        CHECK(std::chrono::system_clock::to_time_t(got[1].arrived_at) >= date);
    }
    SECTION("garbage means the ordinary wait") {
        http_receiver receiver({busy(429, "abc"), busy(429, "-5"), busy(429, "1e9")});
        webhook_stage stage(quick_webhook(receiver.url()));
        REQUIRE(stage.write({make_batch(1, {record_spec{}})}));
        CHECK(receiver.count() == 4);
        CHECK(stage.log().count("retry.after.cap.ms") == 0);
    }
    SECTION("huge is cut, with one warning") {
        http_receiver receiver({busy(429, "999999"), busy(429, "999999")});
        auto options = quick_webhook(receiver.url());
        options.retry_after_cap = 50ms;
        webhook_stage stage(options);
        REQUIRE(stage.write({make_batch(1, {record_spec{}})}));
        const auto got = receiver.requests();
        REQUIRE(got.size() == 3);
        CHECK(got[1].arrived - got[0].arrived >= 50ms);
        CHECK(got[2].arrived - got[1].arrived >= 50ms);
        CHECK(stage.log().count("asks to wait 999999 s; retry.after.cap.ms allows 50 ms") == 1);
    }
}

TEST_CASE("a receiver that is away is waited for, with a line a doubling", "[webhook]") {
    std::uint16_t port = 0;
    {
        http_receiver once;
        port = once.port();
    }
    webhook_stage stage(quick_webhook(fmt::format("http://127.0.0.1:{}/hook?x=y", port)));
    auto writing = stage.begin_write({make_batch(1, numbered(3))});
    REQUIRE(eventually([&] { return stage.status().attempts >= 20; }));
    const auto state = stage.status();
    CHECK(state.now == sink::activity::retrying);
    CHECK(state.reason.find("Connection refused") != std::string::npos);
    CHECK(stage.acknowledged().empty());
    for (const int n : {1, 2, 4, 8, 16})
        CHECK(stage.log().count(fmt::format("attempt {} failed", n)) == 1);
    CHECK(stage.log().count("attempt 3 failed") == 0);
    CHECK(stage.log().count("x=y") == 0);

    http_receiver receiver(http_receiver::decision{}, {.port = port});
    REQUIRE(writing.get());
    CHECK(stage.acknowledged() == up_to(3));
    CHECK(stage.status().now == sink::activity::ok);
    CHECK(stage.status().reason.empty());
    CHECK(stage.log().count("takes records again after") == 1);
}

TEST_CASE("a receiver is restarted in the middle", "[webhook]") {
    std::vector<std::string> ids;
    auto receiver = std::make_unique<http_receiver>();
    const auto port = receiver->port();
    webhook_stage stage(quick_webhook(receiver->url()));
    for (std::uint64_t round = 0; round < 5; ++round) {
        REQUIRE(stage.write({make_batch(round * 10 + 1, numbered(10))}));
        CHECK(receiver->count() == 10);
        receiver.reset();
        receiver = std::make_unique<http_receiver>(http_receiver::decision{},
                                                   http_receiver::options{.port = port});
    }
    CHECK(stage.acknowledged() == up_to(50));
    CHECK(stage.log().lines().empty()); // a connection that was closed while idle is no failure
}

TEST_CASE("a connection closed while idle is replaced without a failure", "[webhook]") {
    SECTION("seen before the request") {
        http_receiver receiver;
        webhook_stage stage(quick_webhook(receiver.url()));
        for (std::uint64_t i = 1; i <= 3; ++i) {
            REQUIRE(stage.write({make_batch(i, {record_spec{}})}));
            receiver.close_connections();
            REQUIRE(eventually([&] { return receiver.open_connections() == 0; }));
        }
        CHECK(receiver.count() == 3);
        CHECK(stage.log().lines().empty());
    }
    SECTION("met by the request: sent again once, then it counts") {
        receiver_answer dropped;
        dropped.close = true;
        http_receiver receiver({status(200), dropped, status(200), dropped, dropped});
        webhook_stage stage(quick_webhook(receiver.url()));
        REQUIRE(stage.write({make_batch(1, numbered(2))}));
        CHECK(stage.log().lines().empty());
        CHECK(receiver.count() == 3);
        REQUIRE(stage.write({make_batch(3, numbered(1))}));
        CHECK(stage.log().count("attempt 1 failed") == 1);
        CHECK(receiver.count() == 6);
        CHECK(stage.acknowledged() == up_to(3));
    }
    SECTION("announced") {
        http_receiver receiver([](const test::received_request&, std::size_t) {
            auto a = status(200);
            a.headers.emplace_back("Connection", "close");
            a.close_after = true;
            return a;
        });
        webhook_stage stage(quick_webhook(receiver.url()));
        REQUIRE(stage.write({make_batch(1, numbered(3))}));
        CHECK(receiver.count() == 3);
        CHECK(receiver.connections() == 3);
        CHECK(stage.log().lines().empty());
    }
}

TEST_CASE("bodies of answers are read, bounded and of no importance", "[webhook]") {
    receiver_answer small, large, chunked, endless, no_length, cut, late, interim;
    small.body = std::string(60000, 'x');
    large.body = std::string(300000, 'x');
    chunked.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    endless.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                  std::string("10000\r\n") + std::string(0x10000, 'x') + "\r\n" + "10000\r\n" +
                  std::string(0x10000, 'x') + "\r\n";
    endless.stall = true;
    no_length.raw = "HTTP/1.1 200 OK\r\n\r\n";
    no_length.stall = true;
    cut.raw = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc";
    late.raw = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc";
    late.stall = true;
    interim.raw = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    const std::vector<receiver_answer> all{small,     large, chunked, endless,
                                           no_length, cut,   late,    interim};
    http_receiver receiver(all);
    auto options = quick_webhook(receiver.url());
    options.answer_timeout = 1s;
    webhook_stage stage(options);
    REQUIRE(stage.write({make_batch(1, numbered(all.size() + 1))}));
    CHECK(stage.acknowledged() == up_to(all.size() + 1));
    CHECK(receiver.count() == all.size() + 1);
    CHECK(stage.log().lines().empty());
    const auto got = receiver.requests();
    CHECK(got[1].connection == got[0].connection); // the small one was read
    CHECK(got[2].connection != got[1].connection); // the large one was not
}

TEST_CASE("an answer that comes before the body was taken counts", "[webhook]") {
    http_receiver receiver(http_receiver::decision{}, {.early_status = 413});
    webhook_stage stage(quick_webhook(receiver.url()));
    record_spec big;
    big.value = '"' + std::string(16 * 1024 * 1024, 'x') + '"';
    const auto written = stage.write({make_batch(1, {big})});
    REQUIRE_FALSE(written);
    CHECK(written.error().text.find("answered 413") != std::string::npos);
    CHECK(stage.acknowledged().empty());
}

TEST_CASE("a request that the receiver does not take has a limit", "[webhook]") {
    // A listener that accepts by its backlog and reads nothing.
    boost::asio::io_context io;
    boost::asio::ip::tcp::acceptor deaf(io, {boost::asio::ip::address_v4::loopback(), 0});
    auto options = quick_webhook(fmt::format("http://127.0.0.1:{}/", deaf.local_endpoint().port()));
    options.write_timeout = 200ms;
    webhook_stage stage(options);
    record_spec big;
    big.value = '"' + std::string(16 * 1024 * 1024, 'x') + '"';
    auto writing = stage.begin_write({make_batch(1, {big})});
    REQUIRE(eventually([&] { return stage.status().attempts >= 1; }));
    CHECK(stage.status().reason == "sending the request took longer than 200 ms");
    stage.cancel();
    const auto written = writing.get();
    REQUIRE_FALSE(written);
    CHECK(written.error().code == error::errc::cancelled);
}

TEST_CASE("large bodies arrive whole and signed", "[webhook]") {
    http_receiver receiver({status(503)});
    auto options = quick_webhook(receiver.url());
    options.signing_key = *webhook::parse_secret(secret);
    webhook_stage stage(options);
    record_spec big;
    big.value = '"' + std::string(12 * 1024 * 1024, 'x') + '"';
    REQUIRE(stage.write({make_batch(1, {big})}));
    const auto got = receiver.requests();
    REQUIRE(got.size() == 2);
    const webhook::signer signer(options.signing_key);
    for (const auto& r : got) {
        CHECK((r.body == *big.value));
        CHECK(
            r.header("webhook-signature") ==
            signer.sign(r.header("webhook-id"), std::stoll(r.header("webhook-timestamp")), r.body));
    }
}

TEST_CASE("ids are the same in a later run, and different between sinks", "[webhook]") {
    http_receiver receiver;
    for (const char* name : {"out", "out", "other"}) {
        webhook_stage stage(quick_webhook(receiver.url()), "inventory", name);
        REQUIRE(stage.write({make_batch(1, numbered(2))}));
    }
    const auto got = receiver.requests();
    REQUIRE(got.size() == 6);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(got[i].header("webhook-id") == got[i + 2].header("webhook-id"));
        CHECK(got[i].header("webhook-id") != got[i + 4].header("webhook-id"));
    }
}
