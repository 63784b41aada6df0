// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor.hpp"
#include "sinks/webhook/check.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/http_receiver.hpp"
#include "tests/support/webhook_stage.hpp"

#include <fmt/format.h>

#include <fstream>

using namespace cdc;
using namespace std::chrono_literals;
using test::eventually;
using test::http_receiver;
using test::make_batch;
using test::quick_webhook;
using test::record_spec;
using test::webhook_stage;

TEST_CASE("https with an authority of one's own", "[webhook][tls]") {
    const test::certificates pem;
    test::receiver_answer closing;
    closing.close_after = true;
    http_receiver receiver({closing, closing}, {.certificate_and_key = pem.server()});
    auto options = quick_webhook(receiver.url());
    options.ca_file = pem.ca();
    SECTION("by address") {}
    SECTION("by name") {
        options.url.host = "localhost";
    }
    webhook_stage stage(options);
    REQUIRE(stage.started());
    record_spec big;
    big.value = '"' + std::string(3 * 1024 * 1024, 'x') + '"';
    REQUIRE(stage.write({make_batch(1, {record_spec{}, big, record_spec{}, record_spec{}})}));
    const auto got = receiver.requests();
    REQUIRE(got.size() == 4);
    CHECK((got[1].body == *big.value));
    CHECK(got[3].connection == got[2].connection);
    CHECK(stage.log().lines().empty());
}

TEST_CASE("https with the wrong authority is tried again and delivers nothing", "[webhook][tls]") {
    const test::certificates pem;
    const bool wrong_name = GENERATE(false, true);
    http_receiver receiver(
        http_receiver::decision{},
        {.certificate_and_key = wrong_name ? pem.wrong_name_server() : pem.server()});
    auto options = quick_webhook(receiver.url());
    options.ca_file = wrong_name ? pem.ca() : pem.other_ca();
    webhook_stage stage(options);
    REQUIRE(stage.started());
    auto writing = stage.begin_write({make_batch(1, {record_spec{}})});
    REQUIRE(eventually([&] { return stage.status().attempts >= 3; }));
    const auto state = stage.status();
    CHECK(state.now == sink::activity::retrying);
    CHECK(state.reason.find("the TLS handshake: certificate verify failed") != std::string::npos);
    stage.cancel();
    CHECK_FALSE(writing.get());
    CHECK(receiver.count() == 0);
    CHECK(stage.acknowledged().empty());
}

TEST_CASE("the system's authorities do not trust a test's", "[webhook][tls]") {
    const test::certificates pem;
    http_receiver receiver(http_receiver::decision{}, {.certificate_and_key = pem.server()});
    webhook_stage stage(quick_webhook(receiver.url()));
    REQUIRE(stage.started());
    auto writing = stage.begin_write({make_batch(1, {record_spec{}})});
    REQUIRE(eventually([&] { return stage.status().attempts >= 1; }));
    stage.cancel();
    CHECK_FALSE(writing.get());
    CHECK(receiver.count() == 0);
}

TEST_CASE("a handshake that fails once is tried again", "[webhook][tls]") {
    const test::certificates pem;
    http_receiver receiver(http_receiver::decision{}, {.certificate_and_key = pem.server()});
    receiver.refuse_next(1);
    auto options = quick_webhook(receiver.url());
    options.ca_file = pem.ca();
    webhook_stage stage(options);
    REQUIRE(stage.write({make_batch(1, {record_spec{}})}));
    CHECK(receiver.count() == 1);
    CHECK(stage.log().count("attempt 1 failed") == 1);
    CHECK(stage.log().count("the TLS handshake") == 1);
}

TEST_CASE("plain HTTP where TLS is spoken, and TLS where it is not", "[webhook][tls]") {
    const test::certificates pem;
    const bool https_server = GENERATE(false, true);
    http_receiver receiver(http_receiver::decision{},
                           {.certificate_and_key = https_server ? pem.server() : ""});
    auto options = quick_webhook(
        fmt::format("{}://127.0.0.1:{}/", https_server ? "http" : "https", receiver.port()));
    if (!https_server)
        options.ca_file = pem.ca();
    webhook_stage stage(options);
    auto writing = stage.begin_write({make_batch(1, {record_spec{}})});
    REQUIRE(eventually([&] { return stage.status().attempts >= 2; }));
    CHECK_FALSE(stage.status().reason.empty());
    stage.cancel();
    CHECK_FALSE(writing.get());
    CHECK(receiver.count() == 0);
}

TEST_CASE("a file of authorities that cannot be read is refused at start", "[webhook][tls]") {
    const test::temp_dir dir;
    const auto file = (dir.path() / "ca.pem").string();
    if (GENERATE(false, true))
        std::ofstream(file) << "no certificate\n";
    auto options = quick_webhook("https://127.0.0.1:1/");
    options.ca_file = file;
    webhook_stage stage(options);
    REQUIRE_FALSE(stage.started());
    CHECK(stage.started().error().code == error::errc::configuration);
    CHECK(stage.started().error().text.find(file) != std::string::npos);
}

TEST_CASE("a check connects and sends nothing", "[webhook][tls]") {
    const test::certificates pem;
    const bool tls = GENERATE(false, true);
    http_receiver receiver(http_receiver::decision{},
                           {.certificate_and_key = tls ? pem.server() : ""});
    auto options = quick_webhook(receiver.url("/hook?token=hunter22"));
    if (tls)
        options.ca_file = pem.ca();
    runtime::reactor reactor("check");
    runtime::blocking_pool blocking(1);
    sink::context context;
    context.executor = reactor.executor();
    context.blocking = &blocking;

    const auto found = test::await_on(reactor, webhook::check_webhook(context, options));
    REQUIRE(found);
    CHECK(found->find(fmt::format("127.0.0.1:{}/hook takes connections", receiver.port())) == 0);
    CHECK(eventually([&] { return receiver.connections() == 1; }));
    CHECK(receiver.count() == 0);

    if (tls) {
        options.ca_file = pem.other_ca();
        const auto refused = test::await_on(reactor, webhook::check_webhook(context, options));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().text.find("certificate verify failed") != std::string::npos);
        CHECK(refused.error().text.find("hunter22") == std::string::npos);
        options.ca_file = "/no/such/file.pem";
        const auto unread = test::await_on(reactor, webhook::check_webhook(context, options));
        REQUIRE_FALSE(unread);
        CHECK(unread.error().code == error::errc::configuration);
    } else {
        options.url.port = 1;
        const auto refused = test::await_on(reactor, webhook::check_webhook(context, options));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == error::errc::network);
        CHECK(refused.error().text.find("127.0.0.1:1: Connection refused") != std::string::npos);
    }
}
