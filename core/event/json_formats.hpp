// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/extended_json.hpp"

#include <cstdint>

namespace cdc::event {

/// Debezium's json.serialization.mode.
enum class json_serialization_mode : std::uint8_t { legacy, strict, extended, relaxed };

/// How BSON becomes text in a value. The key's `id` is relaxed_compact in every mode.
struct json_formats {
    bson::json_format documents = bson::json_format::strict_compact; ///< `before` and `after`
    bson::json_format updated_fields = bson::json_format::relaxed_spaced;
};

/// What Debezium 3.7 writes in a mode; before it there was legacy only. `bare_nonfinite`: the bare
/// NaN and Infinity of its strict form, which are no JSON, rather than their extended form.
constexpr json_formats formats_of(json_serialization_mode mode, bool bare_nonfinite) noexcept {
    using bson::json_format;
    const auto strict =
        bare_nonfinite ? json_format::strict_bare_compact : json_format::strict_compact;
    switch (mode) {
    case json_serialization_mode::legacy:
        return {strict, json_format::relaxed_spaced};
    case json_serialization_mode::strict:
        return {strict, strict};
    case json_serialization_mode::extended:
        return {json_format::extended_compact, json_format::extended_compact};
    case json_serialization_mode::relaxed:
        return {json_format::relaxed_compact, json_format::relaxed_compact};
    }
    return {};
}

} // namespace cdc::event
