// SPDX-License-Identifier: Apache-2.0
// The stand-in replica set as a program.
#include "tests/support/standin/replica_set.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <exception>

namespace standin = cdc::test::standin;

int main(int argc, char** argv) {
    CLI::App app{"A stand-in for a MongoDB replica set for tests: in memory, on 127.0.0.1."};
    standin::replica_set_options options;
    std::vector<std::string> users;
    std::uint32_t election_delay_ms = 0;
    app.add_option("--port", options.port, "port to listen on, 0 for a free one")
        ->capture_default_str();
    app.add_option("--set-name", options.set_name, "name of the set")->capture_default_str();
    app.add_option("--version", options.version, "server version played")->capture_default_str();
    app.add_option("--user", users,
                   "NAME:PASSWORD[:ROLE@DB,...]; may be given again. Without roles: root");
    app.add_option("--tls-cert-key", options.tls.certificate_and_key_pem,
                   "PEM file with certificate and key: TLS only")
        ->check(CLI::ExistingFile);
    app.add_option("--tls-client-ca", options.tls.client_ca_pem,
                   "PEM file with the CA of the client certificates that are then demanded")
        ->check(CLI::ExistingFile);
    app.add_option("--members", options.members,
                   "members of the set, each on a port of its own (with --port: that and the next)")
        ->capture_default_str();
    app.add_option("--election-delay-ms", election_delay_ms,
                   "how long a set is without a primary before it elects one")
        ->capture_default_str();
    app.add_flag("--standalone", options.standalone, "no replica set");
    app.add_option("--oplog-limit", options.oplog_limit, "entries the history keeps, 0 for all")
        ->capture_default_str();
    app.add_option("--scan-limit", options.scan_limit,
                   "entries that one getMore of a change stream looks at, 0 for all")
        ->capture_default_str();
    app.add_option("--pad-events", options.event_padding,
                   "bytes of a field `pad` that insert events show beyond the document");
    app.add_option("--recorded", options.recordings,
                   "serve the change documents of these recordings (JSON lines) byte for byte")
        ->check(CLI::ExistingFile);
    app.add_option("--advertise", options.advertised_host,
                   "host:port that hello names as the first member");
    CLI11_PARSE(app, argc, argv);
    try {
        options.election_delay = std::chrono::milliseconds(election_delay_ms);
        for (const auto& text : users)
            options.users.push_back(standin::user::parse(text));
        boost::asio::io_context signals;
        boost::asio::signal_set stop(signals, SIGINT, SIGTERM);
        const standin::replica_set set(options);
        std::printf("stand-in %s listening on %s\n",
                    options.standalone ? "standalone" : ("replica set " + options.set_name).c_str(),
                    set.uri().c_str());
        std::fflush(stdout);
        stop.async_wait([](const boost::system::error_code&, int) {});
        signals.run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "mongocdc-standin: %s\n", e.what());
        return 2;
    }
    return 0;
}
