// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/logger.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cdc::test {

/// A log backend that keeps every line ("warn component: text"), all levels on.
class log_capture final : public log::backend {
  public:
    static std::shared_ptr<log_capture> make() { return std::make_shared<log_capture>(); }

    bool enabled(std::string_view, log::level) const noexcept override { return true; }
    void write(std::string_view component, log::level lv, std::string_view text) noexcept override {
        static constexpr const char* names[] = {"trace", "debug", "info", "warn", "error"};
        const std::lock_guard lock(mutex_);
        lines_.push_back(std::string(names[static_cast<int>(lv)]) + " " + std::string(component) +
                         ": " + std::string(text));
    }

    std::vector<std::string> lines() const {
        const std::lock_guard lock(mutex_);
        return lines_;
    }
    /// Number of lines that hold `part`.
    std::size_t count(std::string_view part) const {
        std::size_t n = 0;
        for (const auto& line : lines())
            n += line.find(part) != std::string::npos;
        return n;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

} // namespace cdc::test
