// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace cdc::webhook {

/// Where requests go, taken apart. A plain value.
struct target_url {
    bool tls = false;
    std::string host; ///< a name or an address; IPv6 without brackets
    std::uint16_t port = 0;
    std::string target; ///< path and query as they stand in a request line

    /// The value of the Host header: the port is left out where it is the scheme's own.
    std::string authority() const;
    /// For logs and errors: host, port and path; never the query, which may hold a token.
    std::string shown() const;
};

/// Reads `http://` and `https://` URLs, strictly (RFC 3986): visible ASCII only, well-formed
/// escapes, a host, a port from 1 to 65535. User information and fragments are refused: the first
/// would be a secret in a place where nobody looks for one, the second is never sent. Errors:
/// configuration; the text says what is wrong and repeats nothing of the URL.
error::result<target_url> parse_target_url(std::string_view url);

} // namespace cdc::webhook
