// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace cdc::log {

enum class level { trace, debug, info, warn, error };

/// Where log lines go. Implementations are thread-safe, never throw and never block for long.
class backend {
  public:
    virtual ~backend() = default;
    virtual bool enabled(std::string_view component, level lv) const noexcept = 0;
    virtual void write(std::string_view component, level lv, std::string_view text) noexcept = 0;
};

/// A cheap, copyable handle: one component's view of a backend. A default-constructed logger
/// drops everything. Logic receives its logger through the constructor and never looks one up.
class logger {
  public:
    logger() = default;
    logger(std::shared_ptr<backend> to, std::string component)
        : to_(std::move(to))
        , component_(std::move(component)) {}

    /// The same backend under another component name.
    logger named(std::string component) const { return {to_, std::move(component)}; }

    bool enabled(level lv) const noexcept { return to_ && to_->enabled(component_, lv); }

    template <class... A>
    void trace(fmt::format_string<A...> f, A&&... a) const {
        put(level::trace, f, std::forward<A>(a)...);
    }
    template <class... A>
    void debug(fmt::format_string<A...> f, A&&... a) const {
        put(level::debug, f, std::forward<A>(a)...);
    }
    template <class... A>
    void info(fmt::format_string<A...> f, A&&... a) const {
        put(level::info, f, std::forward<A>(a)...);
    }
    template <class... A>
    void warn(fmt::format_string<A...> f, A&&... a) const {
        put(level::warn, f, std::forward<A>(a)...);
    }
    template <class... A>
    void error(fmt::format_string<A...> f, A&&... a) const {
        put(level::error, f, std::forward<A>(a)...);
    }

  private:
    template <class... A>
    void put(level lv, fmt::format_string<A...> f, A&&... a) const {
        if (enabled(lv))
            to_->write(component_, lv, fmt::format(f, std::forward<A>(a)...));
    }

    std::shared_ptr<backend> to_;
    std::string component_;
};

} // namespace cdc::log
