// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor.hpp"
#include "sources/mongodb/client/client.hpp"
#include "sources/mongodb/client/driver.hpp"
#include "tests/support/log_capture.hpp"
#include "tests/support/usleep_counter.hpp"

#include <memory>
#include <string>

namespace cdc::test {

/// What a test of the driver needs around it, in the order in which it must go away.
struct driver_fixture {
    std::shared_ptr<log_capture> log = log_capture::make();
    log::logger logger{log, "test"};
    runtime::reactor reactor{"test-reactor"};
    runtime::blocking_pool blocking{2}; // ends before the reactor it posts to

    driver_fixture() {
        // libmongoc cannot be initialised twice in one process.
        static const mongodb::client::driver driver{log::logger{}};
    }

    boost::asio::any_io_executor executor() const { return reactor.executor(); }

    mongodb::client::client_options options(std::string uri) const {
        mongodb::client::client_options o;
        o.uri = std::move(uri);
        return o;
    }

    /// Calls of usleep since this fixture was made.
    std::size_t usleeps() const noexcept { return usleep_calls() - usleeps_before_; }

  private:
    std::size_t usleeps_before_ = usleep_calls();
};

} // namespace cdc::test
