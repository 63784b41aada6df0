// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cdc::webhook {

/// The `webhook-id` of a record: `msg_` and the first 32 hexadecimal digits of
/// SHA-256(connector NUL sink NUL topic NUL token NUL index), index in decimal. The same for every
/// attempt, after every restart and on every machine, so receivers can drop repeats.
/// `token` is the `_data` of the event's resume token, `index` the record's within its event.
std::string message_id(std::string_view connector, std::string_view sink, std::string_view topic,
                       std::string_view token, std::uint32_t index);

} // namespace cdc::webhook
