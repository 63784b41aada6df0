// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/record.hpp"
#include "core/log/logger.hpp"
#include "sinks/sink_state.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cdc::runtime {
class blocking_pool;
}

namespace cdc::sink {

/// What every sink is given. `executor` is the connector's reactor: all calls come from it and all
/// callbacks must be made on it.
struct context {
    boost::asio::any_io_executor executor;
    runtime::blocking_pool* blocking = nullptr; ///< outlives the sink
    log::logger logger;
    std::string connector; ///< name in the configuration
    std::string name;      ///< of the sink within its connector
    /// "All records first..last are delivered for good." Ranges may come out of order, never twice
    /// for a record. Called from within or after `write`, on the executor.
    std::function<void(std::uint64_t first, std::uint64_t last)> acknowledge;
};

/// Delivers records of one connector. See sinks/README.md for what an implementation must promise.
/// One call at a time; `cancel` may come during any of them.
class sink {
  public:
    virtual ~sink() = default;

    /// Opens files or connections and repairs what a crash left. Errors: terminal for the sink.
    virtual boost::asio::awaitable<error::result<void>> start() = 0;

    /// Takes the batches over, in order, records of one key never overtaking each other. Returns
    /// when the sink can take more, which may be before they are acknowledged; holding the pointers
    /// until then is the sink's business. Retries are the sink's own; an error is terminal: what
    /// was not acknowledged will be sent again by a later run. Errors: cancelled after `cancel`.
    virtual boost::asio::awaitable<error::result<void>>
    write(std::vector<std::shared_ptr<const event::record_batch>> batches) = 0;

    /// Returns when everything written so far is acknowledged. Errors as `write`.
    virtual boost::asio::awaitable<error::result<void>> flush() = 0;

    /// Ends a pending `write` or `flush` soon with `cancelled`. No later acknowledgements.
    virtual void cancel() noexcept = 0;

    /// How it fares now; from the executor, at any time.
    virtual state status() const { return {}; }

    /// Releases files and connections. After it only the destructor may be called.
    virtual boost::asio::awaitable<void> stop() = 0;
};

} // namespace cdc::sink
