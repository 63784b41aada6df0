// SPDX-License-Identifier: Apache-2.0
#include "sinks/discard/discard_sink.hpp"

namespace cdc::discard {

namespace asio = boost::asio;

asio::awaitable<error::result<void>> discard_sink::start() {
    co_return error::result<void>{};
}

asio::awaitable<error::result<void>>
discard_sink::write(std::vector<std::shared_ptr<const event::record_batch>> batches) {
    if (cancelled_)
        co_return error::fail(error::errc::cancelled, "cancelled");
    for (const auto& batch : batches)
        context_.acknowledge(batch->first_sequence(), batch->last_sequence());
    co_return error::result<void>{};
}

asio::awaitable<error::result<void>> discard_sink::flush() {
    if (cancelled_)
        co_return error::fail(error::errc::cancelled, "cancelled");
    co_return error::result<void>{};
}

asio::awaitable<void> discard_sink::stop() {
    co_return;
}

} // namespace cdc::discard
