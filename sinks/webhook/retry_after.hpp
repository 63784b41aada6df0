// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace cdc::webhook {

/// What a Retry-After header asks for, as time from `now` on (RFC 9110, 10.2.3): whole seconds, or
/// a date in one of the three forms of HTTP. A date that has passed is 0; what is larger than a
/// thousand years is a thousand years. Nothing for any other text.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                      std::chrono::system_clock::time_point now);

} // namespace cdc::webhook
