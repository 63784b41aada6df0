// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cdc::error {

/// What kind of thing went wrong. Decisions look at this (and at a server's code), never at text.
enum class errc {
    cancelled = 1,  ///< the operation was asked to stop; never logged as an error
    timeout,        ///< a deadline of ours passed; the text says which
    network,        ///< connect, read, write or TLS trouble between us and a peer
    server,         ///< the peer answered with an error; diagnostics carry its code and labels
    protocol,       ///< the peer's answer does not have the shape its protocol promises
    authentication, ///< credentials refused
    configuration,  ///< an option is wrong; the text names it
    bad_data,       ///< BSON, JSON or UTF-8 that cannot be read
    position_lost,  ///< a stored position no longer exists on the server
    io,             ///< local file or database trouble
    state_locked,   ///< another process uses the same state
    state_invalid,  ///< stored state is corrupt, newer than this program, or of something else
    unsupported,    ///< the peer is too old or lacks a feature that the configuration needs
    closed,         ///< the component was stopped or has failed before
    internal,       ///< a bug of ours
};

/// The enumerator's name, for logs and metrics.
std::string_view name(errc code) noexcept;

} // namespace cdc::error
