// SPDX-License-Identifier: Apache-2.0
#include "tests/support/lateness.hpp"

#include "core/runtime/stall_watch.hpp"
#include "tests/support/await.hpp"

#include <algorithm>
#include <cstdio>
#include <future>
#include <optional>

namespace cdc::test {

namespace {

using clock = runtime::stall_watch::clock;
using std::chrono::milliseconds;

constexpr milliseconds interval{5};
constexpr milliseconds limit{50};
/// A control sample this near to a late wake-up explains it.
constexpr milliseconds around{100};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool only_report = true;
#else
constexpr bool only_report = false;
#endif

struct sample {
    clock::time_point due;
    clock::duration late;
};

struct probe {
    explicit probe(runtime::reactor& r)
        : reactor(r)
        , watch(r.executor(), interval, [this](clock::time_point due, clock::duration late) {
            worst = std::max(worst, late);
            if (late > milliseconds(5))
                samples.push_back({due, late});
        }) {
        ended =
            boost::asio::co_spawn(reactor.executor(), watch.run_watch(), boost::asio::use_future);
    }
    void stop() {
        boost::asio::post(reactor.executor(), [this] { watch.cancel(); });
        ended.get();
    }
    runtime::reactor& reactor;
    std::vector<sample> samples; // read after stop only
    clock::duration worst{};
    runtime::stall_watch watch;
    std::future<void> ended;
};

long ms(clock::duration d) {
    return static_cast<long>(std::chrono::duration_cast<milliseconds>(d).count());
}

} // namespace

struct lateness::impl {
    runtime::reactor idle{"idle-control"};
    probe control{idle};
    std::vector<std::unique_ptr<probe>> probes;
    bool stopped = false;

    void stop_all() {
        if (std::exchange(stopped, true))
            return;
        for (auto& p : probes)
            p->stop();
        control.stop();
    }
};

lateness::lateness(std::vector<runtime::reactor*> watched)
    : impl_(std::make_unique<impl>()) {
    for (auto* r : watched)
        impl_->probes.push_back(std::make_unique<probe>(*r));
}

lateness::~lateness() {
    impl_->stop_all();
}

std::size_t lateness::stop(const std::string& what) {
    impl_->stop_all();
    std::size_t excesses = 0;
    clock::duration worst{};
    for (const auto& p : impl_->probes) {
        worst = std::max(worst, p->worst);
        for (const auto& s : p->samples) {
            clock::duration excused{};
            for (const auto& c : impl_->control.samples)
                if (c.due + c.late + around >= s.due && c.due <= s.due + s.late + around)
                    excused = std::max(excused, c.late);
            if (s.late - excused > limit)
                ++excesses;
        }
    }
    std::printf("lateness: %s: reactor worst %ld ms, control worst %ld ms, %zu beyond %ld ms%s\n",
                what.c_str(), ms(worst), ms(impl_->control.worst), excesses,
                static_cast<long>(limit.count()), only_report ? " (reported only)" : "");
    return only_report ? 0 : excesses;
}

} // namespace cdc::test
