// SPDX-License-Identifier: Apache-2.0
#include "core/app/tail.hpp"

#include "core/app/connector.hpp"
#include "core/app/exit_code.hpp"
#include "core/app/tail_sink.hpp"
#include "core/offset/memory_store.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor.hpp"
#include "sources/mongodb/client/driver.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <unistd.h>

#include <csignal>
#include <ostream>
#include <string>
#include <utility>

namespace cdc::app {

namespace asio = boost::asio;

namespace {

constexpr const char* name = "tail"; ///< of the connector and its sink

const config::option_table& no_options() {
    static const config::option_table table("tail", "tail",
                                            {{.name = "schemas.enable",
                                              .type = config::option_type::boolean,
                                              .doc = "Not given: the connector's"}});
    return table;
}

/// The sources that there are, and the one sink that prints.
registry with_tail_sink(const registry& known, tail_sink::settings settings) {
    registry out;
    out.sources = known.sources;
    out.sinks.push_back({.name = name,
                         .options = &no_options(),
                         .make = [settings](sink::context context,
                                            const config::values&) -> std::unique_ptr<sink::sink> {
                             return std::make_unique<tail_sink>(std::move(context), settings);
                         }});
    return out;
}

/// The main thread while events are printed: waits for a reason to end.
class waiting {
  public:
    waiting()
        : signals_(context_, SIGINT, SIGTERM)
        , output_(context_) {
        signals_.async_wait([this](boost::system::error_code ec, int) {
            if (!ec)
                context_.stop();
        });
        watch_output();
    }

    /// From any thread.
    void end() {
        asio::post(context_, [this] { context_.stop(); });
    }
    void changed() {
        asio::post(context_, [this] {
            if (!connector_)
                return;
            auto status = connector_->status();
            if (status.state != pipeline::connector_state::failed)
                return;
            failure_ = std::move(status.error);
            context_.stop();
        });
    }

    /// Why it ended, when the connector failed.
    std::optional<error::diagnostics> run(connector& c) {
        connector_ = &c;
        c.start();
        context_.run();
        return failure_;
    }

  private:
    /// `tail URI | head -1`: who waits for the next event to notice that nobody reads may wait for
    /// ever. Files cannot be watched, and need not.
    void watch_output() {
        boost::system::error_code ec;
        output_.assign(::dup(STDOUT_FILENO), ec);
        if (ec)
            return;
        output_.async_wait(asio::posix::stream_descriptor::wait_error,
                           [this](boost::system::error_code failure) {
                               if (!failure)
                                   context_.stop();
                           });
    }

    asio::io_context context_{1};
    asio::signal_set signals_;
    asio::posix::stream_descriptor output_;
    connector* connector_ = nullptr;
    std::optional<error::diagnostics> failure_;
};

} // namespace

std::optional<config::values> tail_options(const tail_command& command,
                                           const config::option_table& table, std::ostream& err) {
    config::raw_values given;
    const auto give = [&given](std::string key, const std::string& text) {
        config::raw_value value;
        value.kind = config::raw_value::kind_t::scalar;
        value.text = text;
        value.written = text;
        given.emplace_back(std::move(key), std::move(value));
    };
    give("mongodb.connection.string", command.uri);
    give("topic.prefix", tail_prefix);
    give("snapshot.mode", "no_data");
    give("tombstones.on.delete", "false");
    give("schemas.enable", command.full ? "true" : "false");
    // Whoever ends the program does not want the rest of a long queue.
    give("shutdown.timeout.ms", "1000");
    for (const auto& [key, text] : command.options)
        give(key, text);

    config::report found;
    auto out = table.read(given, {}, {}, found);
    for (const auto& m : found.mistakes())
        err << "mongocdc tail: " << m.text() << '\n';
    if (!found.mistakes().empty())
        return std::nullopt;
    return out;
}

int tail(const tail_command& command, const config::values& options, const registry& known,
         log::logger logger) {
    std::signal(SIGPIPE, SIG_IGN);
    waiting main_thread;
    const auto kinds = with_tail_sink(known, {.fd = STDOUT_FILENO,
                                              .pretty = command.pretty,
                                              .limit = command.limit,
                                              .done = [&main_thread] { main_thread.end(); }});
    const mongodb::client::driver driver(logger.named("driver"));
    runtime::reactor reactor(name);
    runtime::blocking_pool blocking(2); // one may be held up by who reads the output
    offset::memory_store positions;
    auto made = connector::make(
        {.name = name,
         .source = "mongodb",
         .options = options,
         .sinks = {{.name = name, .type = name, .options = config::values(no_options())}}},
        kinds, reactor,
        {.blocking = &blocking, .store = &positions, .logger = logger, .changed = [&main_thread] {
             main_thread.changed();
         }});
    if (!made) {
        logger.error("cannot start: {}", made.error().describe());
        return exit_code::configuration;
    }
    const auto failure = main_thread.run(**made);
    // A second signal ends the process at once.
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    (*made)->stop().get();
    if (!failure)
        return exit_code::stopped;
    return failure->code == error::errc::configuration ? exit_code::configuration
                                                       : exit_code::all_failed;
}

} // namespace cdc::app
