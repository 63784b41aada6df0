// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::webhook {

/// The key in a Standard Webhooks secret: `whsec_` and the base64 text (padded) of 24 to 64 bytes.
/// Errors: configuration; the text repeats nothing of the secret.
error::result<std::vector<std::uint8_t>> parse_secret(std::string_view secret);

/// Makes `webhook-signature` values, version 1: `v1,` and the base64 text of
/// HMAC-SHA256(key, id "." timestamp "." body) (Standard Webhooks 1.0.0). Keeps the key within
/// OpenSSL, which wipes it at the end. `sign` may be called from any thread.
class signer {
  public:
    explicit signer(std::span<const std::uint8_t> key);
    ~signer();
    signer(signer&&) noexcept;
    signer& operator=(signer&&) noexcept;

    /// `timestamp` in seconds since 1970. Reads the body where it is.
    std::string sign(std::string_view id, std::int64_t timestamp, std::string_view body) const;

  private:
    struct free_context {
        void operator()(EVP_MAC_CTX* c) const noexcept;
    };
    std::unique_ptr<EVP_MAC_CTX, free_context> keyed_; ///< copied for each signature
};

} // namespace cdc::webhook
