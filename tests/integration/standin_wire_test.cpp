// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/runtime/wake_slot.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wire/wire_client.hpp"
#include "tests/support/wire/wire_server.hpp"

#include <atomic>
#include <future>
#include <thread>

namespace asio = boost::asio;
namespace bson = cdc::bson;
namespace wire = cdc::test::wire;

namespace {

struct shared_state {
    std::atomic<int> closed_while_waiting = 0;
    std::atomic<int> silent = 0;
    std::promise<void> waiting;
    std::promise<void> woken;
};

/// Echoes; `wait` waits until the peer goes; `cut` and `reset` are faults; `none` closes.
class echo final : public wire::session {
  public:
    echo(asio::any_io_executor reactor, shared_state& state)
        : slot_(std::move(reactor))
        , state_(state) {}

    asio::awaitable<wire::answer> handle(wire::request r) override {
        wire::answer out;
        if (r.more_to_come)
            ++state_.silent;
        if (r.command == "wait") {
            state_.waiting.set_value();
            while (!closed_)
                co_await slot_.wait();
            state_.closed_while_waiting++;
            state_.woken.set_value();
            co_return out;
        }
        if (r.command == "none")
            co_return out;
        if (r.command == "cut")
            out.cut_after = 21;
        out.reset = r.command == "reset";
        bson::builder b;
        b.string("command", r.command).boolean("legacy", r.legacy).string("db", r.db);
        b.document("body", r.body);
        out.reply = b.finish();
        co_return out;
    }
    void closed() noexcept override {
        closed_ = true;
        slot_.notify();
    }

  private:
    cdc::runtime::wake_slot slot_;
    shared_state& state_;
    bool closed_ = false;
};

wire::server::factory make_echo(shared_state& state) {
    return [&state](asio::any_io_executor reactor) {
        return std::make_unique<echo>(std::move(reactor), state);
    };
}

bson::document command(std::string_view name) {
    bson::builder b;
    return b.int32(name, 1).string("$db", "test").finish();
}

template <class Predicate>
bool eventually(Predicate done) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done()) {
        if (std::chrono::steady_clock::now() > limit)
            return false;
        std::this_thread::yield();
    }
    return true;
}

} // namespace

TEST_CASE("wire server: sections, checksum, legacy hello, moreToCome", "[standin][wire]") {
    shared_state state;
    wire::server server(make_echo(state));
    wire::client client(server.port());

    const auto ping = command("ping");
    client.send(ping);
    auto reply = client.receive();
    REQUIRE(reply);
    CHECK(bson::find(*reply, "command")->as_string() == "ping");
    CHECK(bson::find(*reply, "db")->as_string() == "test");
    CHECK_FALSE(bson::find(*reply, "legacy")->as_bool());

    client.send(command("insert"), 1, {{"documents", {ping, ping}}});
    reply = client.receive();
    REQUIRE(reply);
    CHECK(bson::find_path(*reply, "body.documents")->kind() == bson::type::array);
    CHECK(bson::find_path(*reply, "body.documents.1.ping")->as_int32() == 1);
    CHECK_FALSE(bson::find_path(*reply, "body.documents.2"));

    client.send_legacy("admin.$cmd", ping);
    reply = client.receive();
    REQUIRE(reply);
    CHECK(bson::find(*reply, "legacy")->as_bool());
    CHECK(bson::find(*reply, "db")->as_string() == "admin");

    client.send(command("first"), 2); // no reply to this one
    client.send(command("second"));
    reply = client.receive();
    REQUIRE(reply);
    CHECK(bson::find(*reply, "command")->as_string() == "second");
    CHECK(state.silent == 1);
    CHECK(server.accepted() == 1);
    CHECK(server.open_connections() == 1);
}

TEST_CASE("wire server: faults end the connection", "[standin][wire]") {
    shared_state state;
    wire::server server(make_echo(state));
    for (const char* name : {"cut", "none"}) {
        wire::client client(server.port());
        client.send(command(name));
        CHECK_FALSE(client.receive());
    }
    wire::client client(server.port());
    client.send(command("ping"));
    CHECK(client.receive());
    server.drop_connections();
    CHECK_FALSE(client.receive());
    CHECK(eventually([&] { return server.open_connections() == 0; }));
}

TEST_CASE("wire server: garbage closes the connection and nothing else", "[standin][wire]") {
    shared_state state;
    wire::server server(make_echo(state));
    wire::client healthy(server.port());

    const auto header = [](std::uint32_t length, std::uint32_t opcode) {
        std::vector<std::uint8_t> b(16);
        std::memcpy(b.data(), &length, 4);
        std::memcpy(b.data() + 12, &opcode, 4);
        return b;
    };
    std::vector<std::vector<std::uint8_t>> inputs = {header(0, 2013),
                                                     header(15, 2013),
                                                     header(0x7fffffff, 2013),
                                                     header(48'000'001, 2013),
                                                     header(16, 2013),
                                                     header(16, 2004),
                                                     header(16, 1)};
    // A document whose inner string is longer than the document; unknown section; unknown flag.
    auto bad_string = header(16 + 4 + 1 + 13, 2013);
    for (const int b : {0, 0, 0, 0, 0, 13, 0, 0, 0, 2, 97, 0, 0x7f, 0, 0, 0, 0, 0})
        bad_string.push_back(static_cast<std::uint8_t>(b));
    inputs.push_back(bad_string);
    auto bad_section = header(16 + 4 + 1, 2013);
    for (const int b : {0, 0, 0, 0, 7})
        bad_section.push_back(static_cast<std::uint8_t>(b));
    inputs.push_back(bad_section);
    auto bad_flag = header(16 + 4 + 1 + 5, 2013);
    for (const int b : {4, 0, 0, 0, 0, 5, 0, 0, 0, 0})
        bad_flag.push_back(static_cast<std::uint8_t>(b));
    inputs.push_back(bad_flag);

    for (const auto& input : inputs) {
        wire::client client(server.port());
        client.send_bytes(input);
        CHECK_FALSE(client.receive());
    }
    healthy.send(command("ping"));
    CHECK(healthy.receive());
}

TEST_CASE("wire server: a suspended handler learns that its peer went", "[standin][wire]") {
    shared_state state;
    SECTION("the peer closes") {
        wire::server server(make_echo(state));
        wire::client client(server.port());
        client.send(command("wait"));
        state.waiting.get_future().wait();
        client.close();
        state.woken.get_future().wait();
        CHECK(eventually([&] { return server.open_connections() == 0; }));
    }
    SECTION("the server stops") {
        wire::client* client = nullptr;
        {
            wire::server server(make_echo(state));
            client = new wire::client(server.port());
            client->send(command("wait"));
            state.waiting.get_future().wait();
        }
        CHECK_FALSE(client->receive());
        delete client;
    }
    CHECK(state.closed_while_waiting == 1);
}
