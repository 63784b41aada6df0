// SPDX-License-Identifier: Apache-2.0
// Cancelling the webhook sink in every phase of a delivery, and at every millisecond of one.
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/http_receiver.hpp"
#include "tests/support/webhook_stage.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

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

/// Cancels a write that is under way; it must end soon, as cancelled, and nothing follows.
void check_cancel(webhook_stage& stage, std::future<error::result<void>> writing) {
    const auto before = stage.acknowledged().size();
    const auto begin = std::chrono::steady_clock::now();
    stage.cancel();
    const auto written = writing.get();
    REQUIRE_FALSE(written);
    CHECK(written.error().code == error::errc::cancelled);
    const auto later = stage.write({make_batch(100, {record_spec{}})});
    REQUIRE_FALSE(later);
    CHECK(later.error().code == error::errc::cancelled);
    stage.stop();
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
    CHECK(stage.acknowledged().size() == before);
}

} // namespace

TEST_CASE("cancel while a connection is being made", "[webhook][cancel]") {
    // A listener whose backlog is full: the system leaves further connections unanswered.
    boost::asio::io_context io;
    boost::asio::ip::tcp::acceptor full(io);
    full.open(boost::asio::ip::tcp::v4());
    full.bind({boost::asio::ip::address_v4::loopback(), 0});
    full.listen(0);
    std::vector<boost::asio::ip::tcp::socket> fillers;
    for (int i = 0; i < 8; ++i) {
        auto& s = fillers.emplace_back(io);
        s.open(boost::asio::ip::tcp::v4());
        s.non_blocking(true);
        // Asio's own connect would wait.
        const auto where = full.local_endpoint();
        static_cast<void>(
            ::connect(s.native_handle(), where.data(), static_cast<socklen_t>(where.size())));
    }
    auto options = quick_webhook(fmt::format("http://127.0.0.1:{}/", full.local_endpoint().port()));
    SECTION("within its limit") {
        options.connect_timeout = 60s;
        webhook_stage stage(options);
        auto writing = stage.begin_write({make_batch(1, {record_spec{}})});
        CHECK(writing.wait_for(50ms) == std::future_status::timeout);
        check_cancel(stage, std::move(writing));
    }
    SECTION("the limit counts as a failure") {
        options.connect_timeout = 50ms;
        webhook_stage stage(options);
        auto writing = stage.begin_write({make_batch(1, {record_spec{}})});
        REQUIRE(eventually([&] { return stage.status().attempts >= 2; }));
        CHECK(stage.status().reason.find("took longer than 50 ms") != std::string::npos);
        check_cancel(stage, std::move(writing));
    }
}

TEST_CASE("cancel within a TLS handshake", "[webhook][cancel][tls]") {
    const test::certificates pem;
    boost::asio::io_context io;
    boost::asio::ip::tcp::acceptor silent(io, {boost::asio::ip::address_v4::loopback(), 0});
    auto options =
        quick_webhook(fmt::format("https://127.0.0.1:{}/", silent.local_endpoint().port()));
    options.ca_file = pem.ca();
    options.connect_timeout = 60s;
    webhook_stage stage(options);
    auto writing = stage.begin_write({make_batch(1, {record_spec{}})});
    auto accepted = silent.accept(); // the handshake has begun once there is something to read
    char byte = 0;
    boost::asio::read(accepted, boost::asio::buffer(&byte, 1));
    check_cancel(stage, std::move(writing));
}

TEST_CASE("cancel while a request is being sent", "[webhook][cancel]") {
    boost::asio::io_context io;
    boost::asio::ip::tcp::acceptor deaf(io, {boost::asio::ip::address_v4::loopback(), 0});
    webhook_stage stage(
        quick_webhook(fmt::format("http://127.0.0.1:{}/", deaf.local_endpoint().port())));
    record_spec big;
    big.value = '"' + std::string(16 * 1024 * 1024, 'x') + '"';
    auto writing = stage.begin_write({make_batch(1, {big})});
    auto accepted = deaf.accept();
    char byte = 0;
    boost::asio::read(accepted, boost::asio::buffer(&byte, 1));
    check_cancel(stage, std::move(writing));
}

TEST_CASE("cancel while an answer is awaited", "[webhook][cancel]") {
    const test::certificates pem;
    const bool tls = GENERATE(false, true);
    receiver_answer held, half, body;
    held.held = true;
    half.raw = "HTTP/1.1 200 OK\r\nContent-Le";
    half.stall = true;
    body.raw = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc";
    body.stall = true;
    const auto answer = GENERATE_COPY(values({held, half, body}));
    http_receiver receiver({answer}, {.certificate_and_key = tls ? pem.server() : ""});
    auto options = quick_webhook(receiver.url());
    if (tls)
        options.ca_file = pem.ca();
    webhook_stage stage(options);
    auto writing = stage.begin_write({make_batch(1, {record_spec{}, record_spec{}})});
    REQUIRE(eventually([&] { return receiver.count() == 1; }));
    check_cancel(stage, std::move(writing));
    CHECK(receiver.count() == 1);
}

TEST_CASE("cancel while a retry is awaited", "[webhook][cancel]") {
    receiver_answer busy;
    busy.status = 429;
    busy.headers.emplace_back("Retry-After", "3000");
    http_receiver receiver({busy});
    webhook_stage stage(quick_webhook(receiver.url()));
    auto writing = stage.begin_write({make_batch(1, {record_spec{}})});
    REQUIRE(eventually([&] { return stage.status().attempts == 1; }));
    check_cancel(stage, std::move(writing));
    CHECK(receiver.count() == 1);
}

TEST_CASE("cancel at any moment of a stream of deliveries", "[webhook][cancel]") {
    const test::certificates pem;
    const bool tls = GENERATE(false, true);
    for (int i = 0; i < 40; ++i) {
        http_receiver receiver(
            [](const test::received_request&, std::size_t n) {
                receiver_answer a;
                a.status = n % 5 == 0 ? 503 : 200;
                a.close_after = n % 7 == 0;
                return a;
            },
            {.certificate_and_key = tls ? pem.server() : ""});
        auto options = quick_webhook(receiver.url());
        if (tls)
            options.ca_file = pem.ca();
        webhook_stage stage(options);
        std::vector<record_spec> many(5000);
        auto writing = stage.begin_write({make_batch(1, many)});
        REQUIRE(eventually([&] { return receiver.count() >= static_cast<std::size_t>(i); }));
        stage.cancel();
        const auto acknowledged = stage.acknowledged().size();
        const auto written = writing.get();
        REQUIRE_FALSE(written);
        CHECK(written.error().code == error::errc::cancelled);
        stage.stop();
        CHECK(stage.acknowledged().size() == acknowledged);
        CHECK(acknowledged <= receiver.count());
    }
}

TEST_CASE("a name that does not exist is tried again and can be cancelled", "[webhook][cancel]") {
    // No DNS label is so long, so nobody is asked.
    const std::string host(64, 'x');
    webhook_stage stage(quick_webhook("http://" + host + "/"));
    auto writing = stage.begin_write({make_batch(1, {record_spec{}})});
    REQUIRE(eventually([&] { return stage.status().attempts >= 1; }));
    CHECK(stage.status().reason.find("looking " + host + " up") != std::string::npos);
    stage.cancel();
    const auto written = writing.get();
    REQUIRE_FALSE(written);
    CHECK(written.error().code == error::errc::cancelled);
}
