// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cdc::webhook {

enum class verdict {
    delivered, ///< 2xx, nothing else
    retry,     ///< 408, 429, 5xx: may pass
    refused,   ///< redirects and all others: sending it again would not help
};

/// What an HTTP status means for the record.
constexpr verdict judge(unsigned status) noexcept {
    if (status >= 200 && status < 300)
        return verdict::delivered;
    if (status == 408 || status == 429 || (status >= 500 && status < 600))
        return verdict::retry;
    return verdict::refused;
}

} // namespace cdc::webhook
