// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/target_url.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/address_v6.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace cdc::webhook {

namespace {

constexpr std::size_t longest_url = 8192; // receivers refuse far shorter request lines

error::diagnostics wrong(const char* problem) {
    return error::fail(error::errc::configuration, problem);
}

bool starts_with_scheme(std::string_view url, std::string_view scheme) {
    return url.size() >= scheme.size() &&
           std::equal(scheme.begin(), scheme.end(), url.begin(), [](char want, char is) {
               return want == std::tolower(static_cast<unsigned char>(is));
           });
}

bool is_hex(char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_written_soundly(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' &&
            (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])))
            return false;
        if (std::string_view("\"<>\\^`{|}").find(text[i]) != std::string_view::npos)
            return false;
    }
    return true;
}

bool is_host_name(std::string_view host) {
    return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_';
    });
}

std::string bracketed(const std::string& host) {
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

} // namespace

std::string target_url::authority() const {
    const bool usual = port == (tls ? 443 : 80);
    return usual ? bracketed(host) : bracketed(host) + ":" + std::to_string(port);
}

std::string target_url::shown() const {
    return authority() + target.substr(0, target.find('?'));
}

error::result<target_url> parse_target_url(std::string_view url) {
    if (url.size() > longest_url)
        return wrong("is longer than 8192 characters");
    target_url out;
    out.tls = starts_with_scheme(url, "https://");
    if (!out.tls && !starts_with_scheme(url, "http://"))
        return wrong("does not begin with http:// or https://");
    url.remove_prefix(out.tls ? 8 : 7);
    if (std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c >= 0x7f; }))
        return wrong("holds a blank or a character outside ASCII; they must be percent-encoded");
    if (url.find('#') != std::string_view::npos)
        return wrong("holds a fragment (#), which is never sent");

    const auto end = std::min(url.find_first_of("/?"), url.size());
    std::string_view authority = url.substr(0, end);
    const std::string_view rest = url.substr(end);
    if (authority.find('@') != std::string_view::npos)
        return wrong("holds user information (before @), which is not supported: receivers check "
                     "secret or bearer.token");
    if (!is_written_soundly(rest))
        return wrong("holds a character that must be percent-encoded, or a broken escape");
    out.target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);

    std::string_view port;
    if (authority.starts_with('[')) {
        const auto close = authority.find(']');
        if (close == std::string_view::npos)
            return wrong("holds [ without ]");
        out.host = std::string(authority.substr(1, close - 1));
        boost::system::error_code bad;
        boost::asio::ip::make_address_v6(out.host, bad);
        if (bad)
            return wrong("holds something between [ and ] that is no IPv6 address");
        port = authority.substr(close + 1);
    } else {
        const auto colon = std::min(authority.find(':'), authority.size());
        out.host = std::string(authority.substr(0, colon));
        if (!is_host_name(out.host))
            return wrong("names no host, or one that is neither a name nor an address");
        port = authority.substr(colon);
    }
    if (port.empty()) {
        out.port = out.tls ? 443 : 80;
        return out;
    }
    int number = 0;
    const auto* last = port.data() + port.size();
    const auto read = std::from_chars(port.data() + 1, last, number);
    if (!port.starts_with(':') || read.ec != std::errc{} || read.ptr != last || number < 1 ||
        number > 65535 || port[1] == '-')
        return wrong("names a port that is not a number from 1 to 65535");
    out.port = static_cast<std::uint16_t>(number);
    return out;
}

} // namespace cdc::webhook
