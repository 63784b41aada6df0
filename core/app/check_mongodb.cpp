// SPDX-License-Identifier: Apache-2.0
#include "core/app/check_mongodb.hpp"

#include "core/app/mongodb_parts.hpp"
#include "sources/mongodb/modes/connector_check.hpp"
#include "sources/mongodb/options.hpp"

#include <fmt/format.h>

#include <utility>

namespace cdc::app {

namespace asio = boost::asio;

namespace {

using error::errc;
using mongodb::modes::connector_check;
using mongodb::streaming::in_words;
using mongodb::streaming::oplog_history;

/// libmongoc's word for people.
std::string kind_of(const mongodb::client::server_description& server) {
    if (server.server_type == "RSPrimary")
        return "primary";
    if (server.server_type == "RSSecondary")
        return "secondary";
    return server.server_type;
}

std::string length_of(const oplog_history::window& w) {
    const double seconds = static_cast<double>(w.newest.t) - static_cast<double>(w.oldest.t);
    if (seconds < 2 * 3600)
        return fmt::format("{:.0f} minutes", seconds / 60);
    return fmt::format("{:.1f} hours", seconds / 3600);
}

/// The connection is of no use any more.
bool broken(const error::diagnostics& d) {
    return d.code == errc::network || d.code == errc::timeout || d.code == errc::closed;
}

/// One connector's check while it runs.
class mongodb_items {
  public:
    mongodb_items(connector_check& source, const source_check& check,
                  const mongodb::connector_options& options)
        : source_(source)
        , check_(check)
        , prefix_(options.names.prefix)
        , passes_loss_(options.on_lost_position == mongodb::lost_position_mode::from_now) {}

    asio::awaitable<void> run() {
        const auto connected = co_await source_.connect();
        if (!connected) {
            fail("connect", connected.error());
            co_return;
        }
        const auto& server = source_.server();
        check_.report(verdict::ok, "connect", fmt::format("{}, {}", server.host, kind_of(server)));

        const auto version = co_await source_.version();
        if (!version) {
            fail("server", version.error());
            co_return;
        }
        check_.report(verdict::ok, "server",
                      fmt::format("MongoDB {}, replica set {}", *version, server.set_name));

        const auto read = co_await source_.read_changes();
        if (!read)
            fail("stream", read.error());
        else
            check_.report(verdict::ok, "stream",
                          fmt::format("changes of {} can be read", source_.target().describe()));
        if (!read && broken(read.error()))
            co_return;

        co_await oplog();
        // Who cannot read the stream at all cannot read it behind a position either.
        if (!check_.stored || !identity() || !read)
            co_return;
        for (std::size_t i = 0; i < check_.stored->sinks.size(); ++i)
            co_await stored(i);
    }

  private:
    void fail(std::string item, const error::diagnostics& d) {
        check_.report(verdict::fail, std::move(item), d.describe());
    }

    asio::awaitable<void> oplog() {
        const auto window = co_await source_.oplog();
        if (window) {
            range_ = fmt::format("{} to {}", in_words(window->oldest), in_words(window->newest));
            check_.report(verdict::ok, "oplog", fmt::format("{}: {}", length_of(*window), range_));
        } else if (window.error().server_code == 13) {
            check_.report(verdict::warn, "oplog",
                          "not allowed to read local.oplog.rs, so it is not known how far back a "
                          "stopped connector can go on (the right find on it would do)");
        } else {
            check_.report(verdict::warn, "oplog",
                          "local.oplog.rs cannot be read: " + window.error().describe());
        }
    }

    /// Whether the stored positions mean anything here.
    bool identity() {
        const auto& stored = *check_.stored;
        const auto now = mongodb_identity(source_.server().set_name, prefix_);
        bool any = false;
        for (const auto& sink : stored.sinks)
            any = any || sink.second.has_value();
        if (!any && stored.of_other_sinks)
            check_.report(verdict::warn, "identity",
                          "positions are stored only for sinks that the connector no longer has: "
                          "reading starts from now");
        else if (!stored.identity || !any)
            check_.report(verdict::ok, "identity", now + ", nothing is stored yet");
        else if (*stored.identity == now)
            check_.report(verdict::ok, "identity", now + ", as stored");
        else {
            check_.report(
                verdict::fail, "identity",
                fmt::format("the stored positions belong to {}, but the connector is now {}; "
                            "change it back, or give the connector another name",
                            *stored.identity, now));
            return false;
        }
        return true;
    }

    asio::awaitable<void> stored(std::size_t at) {
        const auto& [sink, json] = check_.stored->sinks[at];
        const auto item = "position." + sink;
        if (!json) {
            check_.report(verdict::ok, item, "none is stored");
            co_return;
        }
        auto position = event::position::from_json(*json);
        if (!position || position->empty()) {
            check_.report(
                verdict::fail, item,
                "the stored position cannot be read: " +
                    (position ? std::string("it is empty") : position.error().describe()));
            co_return;
        }
        const auto time = in_words(position->cluster_time());
        if (lost_connection_) {
            check_.report(verdict::warn, item,
                          fmt::format("{}; not looked for, the connection is gone", time));
            co_return;
        }
        auto looked_for = std::move(*position);
        const auto found = co_await source_.find_position(std::move(looked_for));
        if (found) {
            check_.report(verdict::ok, item, fmt::format("{}, can be resumed", time));
            co_return;
        }
        const auto& d = found.error();
        lost_connection_ = broken(d);
        if (d.code == errc::timeout)
            check_.report(verdict::warn, item,
                          fmt::format("{}; whether it can be resumed was not found out in time: {}",
                                      time, d.describe()));
        else if (d.code == errc::position_lost)
            check_.report(passes_loss_ ? verdict::warn : verdict::fail, item,
                          fmt::format("the position of {} is lost, changes behind it can no longer "
                                      "be read (oplog: {}){}: {}",
                                      time, range_.empty() ? "unknown" : range_,
                                      passes_loss_
                                          ? "; reading goes on from now behind a record of "
                                            "the gap, as on.lost.position says"
                                          : "",
                                      d.describe()));
        else
            check_.report(verdict::fail, item, fmt::format("{}: {}", time, d.describe()));
    }

    connector_check& source_;
    const source_check& check_;
    std::string prefix_;
    bool passes_loss_;  ///< on.lost.position: from_now
    std::string range_; ///< of the oplog, empty: unknown
    bool lost_connection_ = false;
};

} // namespace

asio::awaitable<void> check_mongodb(config::values values, source_environment environment,
                                    source_check check) {
    const auto options = mongodb::make_connector_options(values);
    auto made = connector_check::make(options, environment.executor, *environment.blocking,
                                      environment.logger.named("mongodb"));
    if (!made) {
        check.report(verdict::fail, "connect", made.error().describe());
        co_return;
    }
    mongodb_items items(**made, check, options);
    co_await items.run();
    co_await (*made)->stop();
}

} // namespace cdc::app
