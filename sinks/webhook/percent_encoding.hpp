// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cdc::webhook {

/// RFC 3986: letters, digits, `-`, `.`, `_` and `~` stay, every other byte becomes %XX (upper
/// case).
std::string percent_encode(std::string_view bytes);

} // namespace cdc::webhook
