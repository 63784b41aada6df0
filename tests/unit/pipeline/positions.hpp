// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/builder.hpp"
#include "core/event/position.hpp"

#include <fmt/format.h>

namespace cdc::test {

/// The resume token of the `number`-th event of a made-up stream, in the server's form.
inline bson::document token_of(int number) {
    bson::builder b;
    b.string("_data", fmt::format("82{:08X}000000012B022C0100296E5A1004", number));
    return b.finish();
}

/// A position whose order is the order of its number (>= 1).
inline event::position place(int number) {
    const auto token = token_of(number);
    return {token, bson::timestamp{static_cast<std::uint32_t>(number), 1}};
}

inline int place_number(const event::position& p) {
    return static_cast<int>(p.cluster_time().t);
}

} // namespace cdc::test
