// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/record.hpp"
#include "sinks/webhook/http_client.hpp"
#include "sinks/webhook/signature.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cdc::webhook {

/// Turns records into requests. Decides headers and body only; no I/O.
///
///     content-type: application/json       x-mongocdc-topic, x-mongocdc-key, x-mongocdc-op
///     webhook-id   webhook-timestamp   webhook-signature (with a key)   authorization (with a
///     token)
///
/// The body is the record's value where it lies, `null` for a tombstone, whose op is always `d`.
/// The op of a control record is `m`.
class record_request {
  public:
    /// Longest percent-encoded key. The HTTP library carries no longer header, and receivers refuse
    /// far shorter ones.
    static constexpr std::size_t longest_key = 60000;

    /// Names as in the configuration. An empty token: no Authorization header.
    record_request(std::string connector, std::string sink, std::optional<signer> signing,
                   std::string bearer_token);

    /// All but what belongs to one attempt. Views the record's bytes.
    /// Errors: unsupported, for a key that no header can carry.
    error::result<http_request> make(const event::record& r, const std::string& id) const;

    std::string id_of(const event::record& r) const;

    /// Sets timestamp and signature of an attempt, in place of those of the attempt before. Reads
    /// the whole body when there is a key. `timestamp` in seconds since 1970.
    void stamp(http_request& request, const std::string& id, std::int64_t timestamp) const;

    bool signs() const noexcept { return signing_.has_value(); }

  private:
    std::string connector_;
    std::string sink_;
    std::optional<signer> signing_;
    std::string authorization_;
};

} // namespace cdc::webhook
