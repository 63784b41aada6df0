// SPDX-License-Identifier: Apache-2.0
#include "core/app/check_report.hpp"

#include <fmt/format.h>

#include <ostream>

namespace cdc::app {

namespace {

constexpr std::string_view word(verdict v) noexcept {
    switch (v) {
    case verdict::ok:
        return "ok";
    case verdict::warn:
        return "warn";
    case verdict::fail:
        break;
    }
    return "fail";
}

std::string one_line(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out;
}

} // namespace

void check_report::add(verdict v, std::string_view item, std::string_view text) {
    failed_ = failed_ || v == verdict::fail;
    out_ << fmt::format("{:<4}  {:<{}}  {}\n", word(v), item, widest_,
                        one_line(hidden_->clean(text)));
    out_.flush();
}

} // namespace cdc::app
