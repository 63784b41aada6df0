// SPDX-License-Identifier: Apache-2.0
#include "core/app/run.hpp"

#include "core/app/exit_code.hpp"
#include "core/app/service.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>

namespace cdc::app {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::minutes reminder{1};

/// The service's thread while it runs: waits for signals, for connectors to change state, and for
/// the minute to pass.
class control_loop {
  public:
    control_loop(log::logger logger)
        : logger_(std::move(logger))
        , signals_(context_, SIGINT, SIGTERM)
        , minute_(context_) {}

    /// For connector::changed; from any thread.
    std::function<void()> changed() {
        return [this] { asio::post(context_, [this] { look(); }); };
    }

    int run(service& s) {
        service_ = &s;
        await_signal();
        remind();
        s.start();
        context_.run();
        return all_failed_ ? exit_code::all_failed : exit_code::stopped;
    }

    /// A second signal while the service stops ends the process at once. Positions are only ever
    /// stored behind what was acknowledged, so nothing is lost by that.
    static void end_at_next_signal() {
        std::signal(SIGINT, SIG_DFL);
        std::signal(SIGTERM, SIG_DFL);
    }

  private:
    void await_signal() {
        signals_.async_wait([this](boost::system::error_code ec, int number) {
            if (ec)
                return;
            logger_.info("{}: stopping", number == SIGINT ? "SIGINT" : "SIGTERM");
            end();
        });
    }

    void look() {
        if (ended_)
            return;
        service_->log_failures(false);
        if (!service_->all_failed())
            return;
        logger_.error("every connector has failed");
        all_failed_ = true;
        end();
    }

    void remind() {
        minute_.expires_after(reminder);
        minute_.async_wait([this](boost::system::error_code ec) {
            if (ec || ended_)
                return;
            service_->log_failures(true);
            service_->log_troubles();
            remind();
        });
    }

    void end() {
        ended_ = true;
        boost::system::error_code ignored;
        signals_.cancel(ignored);
        signals_.clear(ignored);
        minute_.cancel();
        context_.stop();
    }

    log::logger logger_;
    asio::io_context context_{1};
    asio::signal_set signals_;
    asio::steady_timer minute_;
    service* service_ = nullptr;
    bool ended_ = false;
    bool all_failed_ = false;
};

int exit_code_of(const error::diagnostics& d) {
    switch (d.code) {
    case error::errc::configuration:
    case error::errc::state_locked:
    case error::errc::state_invalid:
    case error::errc::io:
        return exit_code::configuration;
    default:
        return exit_code::internal;
    }
}

} // namespace

int run(const config::configuration& configuration, const registry& known, log::logger logger) {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN); // a file size limit is an error of the write, not the end
    control_loop loop(logger);
    auto made = service::make(configuration, known, logger, loop.changed());
    if (!made) {
        logger.error("cannot start: {}", made.error().describe());
        return exit_code_of(made.error());
    }
    const int code = loop.run(**made);
    control_loop::end_at_next_signal();
    const bool clean = (*made)->stop();
    logger.info("stopped");
    return code == exit_code::stopped && !clean ? exit_code::internal : code;
}

} // namespace cdc::app
