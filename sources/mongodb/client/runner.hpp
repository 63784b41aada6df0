// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>

#include <functional>

namespace cdc::mongodb::client {

/// Runs blocking libmongoc calls without blocking the reactor that awaits them.
class runner {
  public:
    virtual ~runner() = default;

    /// Runs `work` to its end and resumes the caller on its reactor. One call at a time. `work`
    /// must not throw. Not cancellable from outside: whoever wants it to end makes the calls inside
    /// fail.
    virtual boost::asio::awaitable<void> run(std::function<void()> work) = 0;
};

} // namespace cdc::mongodb::client
