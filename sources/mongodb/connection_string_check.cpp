// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/connection_string_check.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace cdc::mongodb {

namespace {

constexpr const char* encode =
    "holds a user name or password with a character that must be percent-encoded: write @ as %40, "
    "% as %25, : as %3A, / as %2F";

bool hex(char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

/// Every % begins an escape of two hexadecimal digits.
bool well_encoded(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && (i + 2 >= text.size() || !hex(text[i + 1]) || !hex(text[i + 2])))
            return false;
    }
    return true;
}

/// The port of `host:port` or `[v6]:port`; nothing when there is none.
std::optional<std::string_view> port_of(std::string_view host) {
    const auto v6 = host.rfind(']');
    const auto colon = host.find(':', v6 == std::string_view::npos ? 0 : v6);
    if (colon == std::string_view::npos)
        return std::nullopt;
    return host.substr(colon + 1);
}

bool is_port(std::string_view text) {
    if (text.empty() || text.size() > 5 ||
        !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
        return false;
    const int number = std::stoi(std::string(text));
    return number >= 1 && number <= 65535;
}

} // namespace

std::string check_connection_string(const std::string& uri) {
    std::string_view rest = uri;
    const bool srv = rest.starts_with("mongodb+srv://");
    if (!srv && !rest.starts_with("mongodb://"))
        return "does not begin with mongodb:// or mongodb+srv://";
    rest.remove_prefix(rest.find("://") + 3);
    if (std::any_of(rest.begin(), rest.end(),
                    [](char c) { return static_cast<unsigned char>(c) <= ' '; }))
        return "holds a blank or control character; write a blank as %20";

    const auto end = std::min(rest.find_first_of("/?"), rest.size());
    std::string_view hosts = rest.substr(0, end);
    if (const auto at = hosts.rfind('@'); at != std::string_view::npos) {
        const std::string_view credentials = hosts.substr(0, at);
        hosts.remove_prefix(at + 1);
        if (credentials.find('@') != std::string_view::npos || !well_encoded(credentials) ||
            std::count(credentials.begin(), credentials.end(), ':') > 1)
            return encode;
        if (credentials.empty() || credentials.front() == ':')
            return "holds an empty user name";
    } else if (const auto port = port_of(hosts);
               rest.find('@') != std::string_view::npos && port && !is_port(*port)) {
        return encode; // user:pass/word@host
    }

    if (hosts.empty())
        return "names no host";
    while (true) {
        const auto comma = hosts.find(',');
        const std::string_view host = hosts.substr(0, comma);
        if (host.empty() || host.front() == ':')
            return "names an empty host";
        if (host.find('%') == std::string_view::npos) { // else a socket's path
            const auto port = port_of(host);
            if (port && !is_port(*port))
                return "names a port that is not a number from 1 to 65535";
            if (port && srv)
                return "names a port, which mongodb+srv:// does not allow";
        }
        if (comma == std::string_view::npos)
            break;
        if (srv)
            return "names more than one host, which mongodb+srv:// does not allow";
        hosts.remove_prefix(comma + 1);
    }
    return {};
}

bool names_one_host(const std::string& uri) {
    constexpr std::string_view scheme = "mongodb://";
    if (!uri.starts_with(scheme))
        return false;
    std::string_view hosts = std::string_view(uri).substr(scheme.size());
    hosts = hosts.substr(0, hosts.find_first_of("/?"));
    if (const auto at = hosts.rfind('@'); at != std::string_view::npos)
        hosts.remove_prefix(at + 1);
    return hosts.find(',') == std::string_view::npos;
}

} // namespace cdc::mongodb
