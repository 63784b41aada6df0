// SPDX-License-Identifier: Apache-2.0
#include "core/log/set_up.hpp"

#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>

namespace cdc::log {

namespace {

class file_sink final : public spdlog::sinks::stdout_sink_base<spdlog::details::console_mutex> {
  public:
    explicit file_sink(std::FILE* to)
        : stdout_sink_base(to) {}
};

spdlog::level::level_enum to_spdlog(level lv) noexcept {
    switch (lv) {
    case level::trace:
        return spdlog::level::trace;
    case level::debug:
        return spdlog::level::debug;
    case level::info:
        return spdlog::level::info;
    case level::warn:
        return spdlog::level::warn;
    case level::error:
        break;
    }
    return spdlog::level::err;
}

std::string one_line(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '\n')
            out += "\\n";
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out;
}

class spdlog_backend final : public backend {
  public:
    spdlog_backend(levels which, std::shared_ptr<const redactor> hidden, std::FILE* to)
        : levels_(std::move(which))
        , hidden_(std::move(hidden))
        , sink_(std::make_shared<file_sink>(to)) {
        sink_->set_formatter(std::make_unique<spdlog::pattern_formatter>(
            "%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc));
    }

    bool enabled(std::string_view component, level lv) const noexcept override {
        return levels_.enabled(component, lv);
    }

    void write(std::string_view component, level lv, std::string_view text) noexcept override {
        static constexpr const char* names[] = {"trace", "debug", "info", "warn", "error"};
        try {
            const std::string line =
                fmt::format("{} {}: {}", names[static_cast<int>(lv)], one_line(component),
                            one_line(hidden_->clean(text)));
            sink_->log(spdlog::details::log_msg({}, to_spdlog(lv), line));
        } catch (...) {
            // A log line that cannot be written has nobody to be reported to.
        }
    }

  private:
    levels levels_;
    std::shared_ptr<const redactor> hidden_;
    std::shared_ptr<file_sink> sink_;
};

} // namespace

std::shared_ptr<backend> make_backend(levels which, std::shared_ptr<const redactor> hidden,
                                      std::FILE* to) {
    return std::make_shared<spdlog_backend>(std::move(which), std::move(hidden), to);
}

} // namespace cdc::log
