// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"

#include <string>
#include <string_view>

namespace cdc::test::standin {

/// A document as the server writes it in error texts: `{ a: 1, b: [ "x" ] }`.
std::string describe(bson::view doc);
/// A value alone, same notation.
std::string describe(const bson::cursor& element);

/// "8bd5bf3a-94…" of 16 bytes.
std::string uuid_text(std::span<const std::uint8_t> bytes);

/// The server's name of a type: "string", "int", "object".
std::string_view type_name(bson::type kind) noexcept;

} // namespace cdc::test::standin
