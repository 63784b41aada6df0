// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/retry_after.hpp"

#include <locale.h>

#include <algorithm>
#include <clocale>
#include <ctime>
#include <string>

namespace cdc::webhook {

namespace {

using std::chrono::seconds;

constexpr seconds longest{std::int64_t{1000} * 366 * 86400};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Seconds since 1970 of an HTTP-date: IMF-fixdate, RFC 850's form, asctime's form.
std::optional<std::int64_t> read_date(const std::string& text) {
    // The names of days and months are English whatever the program's locale is.
    static const locale_t english = newlocale(LC_ALL_MASK, "C", nullptr);
    for (const char* form :
         {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"}) {
        std::tm parts{};
        const char* end = strptime_l(text.c_str(), form, &parts, english);
        if (end == text.c_str() + text.size())
            return timegm(&parts);
    }
    return std::nullopt;
}

} // namespace

std::optional<seconds> parse_retry_after(std::string_view text,
                                         std::chrono::system_clock::time_point now) {
    text = trimmed(text);
    if (text.empty())
        return std::nullopt;
    if (std::all_of(text.begin(), text.end(), is_digit)) {
        seconds out{0};
        for (const char c : text)
            out = std::min(out * 10 + seconds{c - '0'}, longest);
        return out;
    }
    const auto date = read_date(std::string(text));
    if (!date)
        return std::nullopt;
    // Rounded up: never before the date.
    const auto present = std::chrono::floor<seconds>(now).time_since_epoch();
    return std::clamp(seconds{*date} - present, seconds{0}, longest);
}

} // namespace cdc::webhook
