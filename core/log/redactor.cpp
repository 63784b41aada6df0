// SPDX-License-Identifier: Apache-2.0
#include "core/log/redactor.hpp"

#include <algorithm>
#include <cctype>
#include <mutex>

namespace cdc::log {

namespace {

constexpr std::string_view mask = "***";

int hex(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// A text with its percent escapes resolved, and where each byte came from.
struct decoded {
    std::string text;
    std::vector<std::size_t> origin; ///< one more than bytes: the end
};

decoded decode(std::string_view text) {
    decoded out;
    for (std::size_t i = 0; i < text.size();) {
        out.origin.push_back(i);
        if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 &&
            hex(text[i + 2]) >= 0) {
            out.text += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
            i += 3;
        } else {
            out.text += text[i++];
        }
    }
    out.origin.push_back(text.size());
    return out;
}

std::string json_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

bool is_connection_string(std::string_view text) {
    return text.starts_with("mongodb://") || text.starts_with("mongodb+srv://");
}

/// Replaces what is between the scheme and the last @ of each URI in `text`.
std::string without_user_information(std::string text) {
    for (const std::string_view scheme : {"mongodb://", "mongodb+srv://"}) {
        std::size_t from = 0;
        while ((from = lower(text).find(scheme, from)) != std::string::npos) {
            from += scheme.size();
            const auto end = std::min(text.find_first_of(" \t\r\n\"'<>`", from), text.size());
            const auto at = text.rfind('@', end == 0 ? 0 : end - 1);
            if (at != std::string::npos && at >= from)
                text.replace(from, at - from, mask);
        }
    }
    return text;
}

} // namespace

void redactor::hide(std::string_view secret) {
    if (!is_connection_string(secret)) {
        add(std::string(secret));
        return;
    }
    const std::string_view rest = secret.substr(secret.find("://") + 3);
    // The last @ before the options: a password may hold an @ or / that should be encoded.
    const std::string_view authority = rest.substr(0, rest.find('?'));
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
        const auto colon = authority.find(':');
        if (colon < at)
            add(decode(authority.substr(colon + 1, at - colon - 1)).text);
    }
    std::string_view options = rest.substr(authority.size());
    while (!options.empty()) {
        options.remove_prefix(1);
        const std::string_view option = options.substr(0, options.find('&'));
        const std::string name = lower(option.substr(0, option.find('=')));
        if (option.size() > name.size() &&
            (name.find("password") != std::string::npos || name == "authmechanismproperties"))
            add(decode(option.substr(name.size() + 1)).text);
        options.remove_prefix(option.size());
    }
}

void redactor::add(std::string secret) {
    const std::unique_lock lock(mutex_);
    const std::string escaped = json_escaped(secret);
    for (const auto& form : {secret, escaped}) {
        if (form.size() >= shortest &&
            std::find(secrets_.begin(), secrets_.end(), form) == secrets_.end())
            secrets_.push_back(form);
    }
    std::stable_sort(secrets_.begin(), secrets_.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string redactor::clean(std::string_view text) const {
    std::string out = without_user_information(std::string(text));
    const std::shared_lock lock(mutex_);
    for (const auto& secret : secrets_) {
        std::size_t from = 0;
        while ((from = out.find(secret, from)) != std::string::npos) {
            out.replace(from, secret.size(), mask);
            from += mask.size();
        }
        if (out.find('%') == std::string::npos)
            continue;
        for (decoded plain = decode(out); (from = plain.text.find(secret)) != std::string::npos;
             plain = decode(out)) {
            const std::size_t begin = plain.origin[from];
            out.replace(begin, plain.origin[from + secret.size()] - begin, mask);
        }
    }
    return out;
}

} // namespace cdc::log
