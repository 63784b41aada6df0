// SPDX-License-Identifier: Apache-2.0
#include "core/app/reactor_watch.hpp"

#include "core/runtime/stall_watch.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>

namespace cdc::app {

namespace {

using clock = runtime::stall_watch::clock;
constexpr std::chrono::milliseconds interval{100};
constexpr std::chrono::milliseconds worth_a_line{250};
constexpr std::chrono::minutes between_lines{1};

} // namespace

struct reactor_watch::probe {
    probe(runtime::reactor& r, std::size_t number, log::logger logger)
        : reactor(r)
        , watch(r.executor(), interval,
                [this, number, logger = std::move(logger)](clock::time_point due,
                                                           clock::duration late) {
                    if (late < worth_a_line || due < quiet_until)
                        return;
                    quiet_until = due + between_lines;
                    logger.warn(
                        "reactor {} woke {} ms late", number,
                        std::chrono::duration_cast<std::chrono::milliseconds>(late).count());
                }) {
        ended =
            boost::asio::co_spawn(reactor.executor(), watch.run_watch(), boost::asio::use_future);
    }

    runtime::reactor& reactor;
    clock::time_point quiet_until{};
    runtime::stall_watch watch;
    std::future<void> ended;
};

reactor_watch::reactor_watch(runtime::reactor_pool& reactors, log::logger logger) {
    std::size_t number = 0;
    for (const auto& r : reactors.reactors())
        probes_.push_back(std::make_unique<probe>(*r, number++, logger));
}

reactor_watch::~reactor_watch() {
    stop();
}

void reactor_watch::stop() {
    for (auto& p : probes_) {
        boost::asio::post(p->reactor.executor(), [&w = p->watch] { w.cancel(); });
        p->ended.get();
    }
    probes_.clear();
}

} // namespace cdc::app
