// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"
#include "core/error/result.hpp"

#include <string>

struct _bson_error_t;

namespace cdc::mongodb::client {

/// What was seen on the wire while a call of libmongoc failed. libmongoc's own error cannot be
/// trusted alone: a connection lost in the middle of authentication is reported as failed
/// authentication, and every failed connect as "No suitable servers".
struct wire_evidence {
    bool cancelled = false;
    bool timed_out = false;
    std::string failure; ///< stream_hub::last_failure
    /// The same of an earlier operation: right after a failure libmongoc refuses to look again and
    /// says something about its cooldown.
    std::string earlier_failure;
    bool no_primary = false; ///< members of the set were found, but none that is primary
};

/// Translates a failed call. `reply` is the server's reply when there is one (it has `ok`).
error::diagnostics translate(const _bson_error_t& error, bson::view reply,
                             const wire_evidence& evidence);

/// The server's error document (ok: 0) as diagnostics.
error::diagnostics server_error(bson::view reply);

} // namespace cdc::mongodb::client
