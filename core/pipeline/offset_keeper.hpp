// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/position.hpp"
#include "core/log/logger.hpp"
#include "core/offset/store.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cdc::runtime {
class blocking_pool;
}

namespace cdc::pipeline {

/// One connector's view of the offset store: where its sinks stand, and what must not change while
/// they do. Lives on the connector's reactor, calls the store on the blocking pool. One call at a
/// time; borrows pool and store.
class offset_keeper {
  public:
    /// The replica set's part of a connector; today there is one.
    static constexpr const char* partition = "server";

    offset_keeper(runtime::blocking_pool& blocking, offset::store& store, std::string connector,
                  std::vector<std::string> sinks, log::logger logger);

    struct starts {
        event::position read_from;          ///< the lowest of the sinks; empty: none is stored
        std::vector<event::position> sinks; ///< stored position per sink; empty: none
    };
    /// Reads all positions and logs where reading starts and why. Errors: those of the store;
    /// state_invalid for a position that cannot be read.
    boost::asio::awaitable<error::result<starts>> load();

    /// Compares with what was stored and stores it when nothing was, or when no position depends on
    /// the old one. Errors: those of the store; state_invalid when it changed, naming both.
    boost::asio::awaitable<error::result<void>> check_identity(std::string identity);

    /// Stores the positions that are newer than what is stored, in one go; never an older one. One
    /// per sink, null for none.
    boost::asio::awaitable<error::result<void>>
    save(std::vector<std::shared_ptr<const event::position>> safe, std::int64_t now_ms);

    /// The lowest stored position of the sinks that have one; null when none has.
    const event::position* lowest() const noexcept;

  private:
    runtime::blocking_pool& blocking_;
    offset::store& store_;
    std::string connector_;
    std::vector<std::string> sinks_;
    log::logger logger_;
    std::vector<std::shared_ptr<const event::position>> stored_; ///< per sink, null for none
};

} // namespace cdc::pipeline
