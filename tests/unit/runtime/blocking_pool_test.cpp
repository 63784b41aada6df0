// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor.hpp"
#include "tests/support/catch.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <sched.h>

#include <stdexcept>
#include <string>

using namespace cdc;
namespace asio = boost::asio;

static asio::awaitable<std::string> call(runtime::blocking_pool& pool, runtime::reactor& home) {
    auto work = [&home] { return std::string(home.running_in_this_thread() ? "home" : "away"); };
    const auto where = co_await pool.run(work);
    co_return where + (home.running_in_this_thread() ? ", then home" : ", then away");
}

TEST_CASE("a blocking call runs elsewhere and resumes at home", "[runtime][blocking]") {
    runtime::reactor home("home");
    runtime::blocking_pool pool(1);
    CHECK(asio::co_spawn(home.executor(), call(pool, home), asio::use_future).get() ==
          "away, then home");
}

static asio::awaitable<void> call_that_throws(runtime::blocking_pool& pool) {
    auto work = [] { throw std::runtime_error("no"); };
    co_await pool.run(work);
}

TEST_CASE("an exception of a blocking call reaches its caller", "[runtime][blocking]") {
    runtime::reactor home("home");
    runtime::blocking_pool pool(1);
    auto done = asio::co_spawn(home.executor(), call_that_throws(pool), asio::use_future);
    CHECK_THROWS_AS(done.get(), std::runtime_error);
}

namespace {

/// Keeps this thread, and those that it starts, on one processor: who wakes another thread is then
/// often interrupted right behind it.
class on_one_processor {
  public:
    on_one_processor() {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~on_one_processor() { sched_setaffinity(0, sizeof before_, &before_); }
    on_one_processor(const on_one_processor&) = delete;
    on_one_processor& operator=(const on_one_processor&) = delete;

  private:
    cpu_set_t before_{};
};

} // namespace

// For the sanitizers, which see what would else be a rare crash.
TEST_CASE("a pool and then its reactor may end right behind a blocking call",
          "[runtime][blocking]") {
    const on_one_processor interrupted;
    for (int i = 0; i < 2000; ++i) {
        runtime::reactor home("home");
        runtime::blocking_pool pool(1);
        const auto said = asio::co_spawn(home.executor(), call(pool, home), asio::use_future).get();
        REQUIRE(said == "away, then home");
    }
}
