// SPDX-License-Identifier: Apache-2.0
// isMaster, hello, ping, buildInfo: what a driver asks before anything else.
#include "tests/support/standin/command.hpp"
#include "tests/support/standin/sasl.hpp"
#include "tests/support/standin/server_error.hpp"

#include <algorithm>
#include <chrono>

namespace cdc::test::standin {

namespace {

void append_set(const server_state& s, const member_state& self, bson::builder& b, bool hello) {
    bson::builder hosts;
    for (const auto& m : s.members.all())
        hosts.string(std::to_string(hosts.count()), m->host);
    b.array("hosts", hosts.finish()).string("setName", s.set_name).int32("setVersion", 1);
    b.boolean(hello ? "isWritablePrimary" : "ismaster", self.primary);
    b.boolean("secondary", !self.primary);
    if (const member_state* primary = s.members.primary())
        b.string("primary", primary->host);
    b.string("me", self.host);
    if (self.primary)
        b.oid("electionId", s.members.election_id());
    const auto& log = s.data.history();
    const bson::document last = op_time(log);
    const std::int64_t whole_seconds = log.last_wall_ms() / 1000 * 1000;
    bson::builder write;
    write.document("opTime", last).date_ms("lastWriteDate", whole_seconds);
    write.document("majorityOpTime", last).date_ms("majorityWriteDate", whole_seconds);
    b.document("lastWrite", write.finish());
}

void write_hello(command_call& call, bson::builder& b) {
    const server_state& s = call.server;
    const bool hello = call.name == "hello";
    if (s.has_hello() && call.flag("helloOk"))
        b.boolean("helloOk", true);
    if (s.standalone()) {
        b.boolean(hello ? "isWritablePrimary" : "ismaster", true);
        append_topology_version(call.self, b);
    } else {
        append_topology_version(call.self, b);
        append_set(s, call.self, b, hello);
    }
    b.int32("maxBsonObjectSize", 16'777'216).int32("maxMessageSizeBytes", 48'000'000);
    b.int32("maxWriteBatchSize", 100'000).date_ms("localTime", s.data.history().now_ms());
    b.int32("logicalSessionTimeoutMinutes", 30).int32("connectionId", call.connection.id);
    b.int32("minWireVersion", 0).int32("maxWireVersion", s.max_wire_version());
    b.boolean("readOnly", false);
    if (call.field("saslSupportedMechs")) {
        bson::builder names;
        names.string("0", "SCRAM-SHA-256");
        b.array("saslSupportedMechs", names.finish());
    }
    if (const auto start = call.field("speculativeAuthenticate");
        start && start->kind() == bson::type::document)
        speculative_sasl_start(call, start->as_document(), b);
}

/// A hello with the topology version the client knows waits until there is another one.
boost::asio::awaitable<void> run_hello(command_call* call, bson::builder* reply) {
    const auto known = bson::find_path(call->body, "topologyVersion.counter");
    const auto process = bson::find_path(call->body, "topologyVersion.processId");
    const auto limit = call->number("maxAwaitTimeMS");
    const bool of_this_process = process && process->kind() == bson::type::oid &&
                                 std::ranges::equal(process->as_oid(), call->self.process_id);
    if (known && limit && of_this_process) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(*limit);
        const waiting_command waiting(*call);
        while (known->as_integer() == call->self.topology_counter && !call->connection.closed) {
            const auto left = until - std::chrono::steady_clock::now();
            if (left <= left.zero())
                break;
            co_await call->connection.wake.wait_for(left);
            if (call->self.shutting_down)
                throw server_error(code::interrupted_at_shutdown, "interrupted at shutdown");
        }
    }
    write_hello(*call, *reply);
}

void run_ping(command_call&, bson::builder&) {}

void run_build_info(command_call& call, bson::builder& b) {
    const server_state& s = call.server;
    b.string("version", s.version_text).string("gitVersion", "unknown");
    b.array("modules", bson::view()).string("allocator", "system");
    b.string("javascriptEngine", "none").string("sysInfo", "deprecated");
    bson::builder parts;
    for (const int part : s.version)
        parts.int32(std::to_string(parts.count()), part);
    parts.int32("3", 0);
    b.array("versionArray", parts.finish());
    bson::builder openssl;
    openssl.string("running", "disabled").string("compiled", "disabled");
    b.document("openssl", openssl.finish());
    bson::builder environment;
    environment.string("distmod", "stand-in").string("distarch", "x86_64");
    b.document("buildEnvironment", environment.finish());
    b.int32("bits", 64).boolean("debug", false).int32("maxBsonObjectSize", 16'777'216);
    bson::builder engines;
    engines.string("0", "wiredTiger");
    b.array("storageEngines", engines.finish());
}

} // namespace

bson::document op_time(const oplog& log) {
    bson::builder b;
    return b.timestamp("ts", log.last()).int64("t", log.last_term()).finish();
}

void append_topology_version(const member_state& self, bson::builder& b) {
    bson::builder v;
    v.oid("processId", self.process_id).int64("counter", self.topology_counter);
    b.document("topologyVersion", v.finish());
}

void register_hello(std::map<std::string, command_spec>& table) {
    command_spec hello;
    hello.need = access::open;
    hello.run_waiting = run_hello;
    hello.fields = {"client",          "compression",    "saslSupportedMechs",
                    "topologyVersion", "maxAwaitTimeMS", "speculativeAuthenticate",
                    "loadBalanced",    "hostInfo",       "helloOk",
                    "backpressure"};
    table["hello"] = hello;
    table["isMaster"] = hello;
    table["ismaster"] = hello;
    table["ping"] = {access::open, run_ping, nullptr, {}, false};
    table["buildInfo"] = {access::open, run_build_info, nullptr, {}, false};
    table["buildinfo"] = table["buildInfo"];
}

} // namespace cdc::test::standin
