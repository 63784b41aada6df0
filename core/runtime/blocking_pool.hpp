// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace cdc::runtime {

/// A few threads for calls that must block (files, the offset database, name lookups by libmongoc).
/// Calls are taken up in the order they came in; there is no order between calls on different
/// threads. A call that has started cannot be cancelled. The pool must end before the reactors
/// whose coroutines use it: its threads may still be handing a result over when the coroutine has
/// gone on.
class blocking_pool {
  public:
    explicit blocking_pool(std::size_t threads);
    /// Waits for the calls that were handed in.
    ~blocking_pool();
    blocking_pool(const blocking_pool&) = delete;
    blocking_pool& operator=(const blocking_pool&) = delete;

    /// Runs `work` on a thread of the pool and resumes the caller on its own executor with what it
    /// returned. An exception of `work` is rethrown to the caller. The awaiting coroutine is not
    /// cancellable meanwhile: `work` may refer to the caller's variables.
    template <class F>
    boost::asio::awaitable<std::invoke_result_t<F&>> run(F work) {
        using value = std::invoke_result_t<F&>;
        if constexpr (std::is_void_v<value>) {
            std::function<void()> call = std::move(work);
            co_await run_erased(std::move(call));
        } else {
            std::optional<value> out;
            // std::function needs a copyable callable; the work may own move-only things.
            auto shared = std::make_shared<F>(std::move(work));
            std::function<void()> call = [shared, &out] { out.emplace((*shared)()); };
            co_await run_erased(std::move(call));
            co_return std::move(*out);
        }
    }

  private:
    boost::asio::awaitable<void> run_erased(std::function<void()> work);

    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::runtime
