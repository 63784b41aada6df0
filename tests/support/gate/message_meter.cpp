// SPDX-License-Identifier: Apache-2.0
#include "tests/support/gate/message_meter.hpp"

#include <algorithm>
#include <cassert>

namespace cdc::test::gate {

std::optional<std::size_t> message_meter::length_with(std::span<const char> bytes) const noexcept {
    if (passed_ + bytes.size() < length_bytes)
        return std::nullopt;
    std::size_t out = 0;
    for (std::size_t i = length_bytes; i-- > 0;) {
        const auto byte = i < passed_ ? begin_[i] : static_cast<unsigned char>(bytes[i - passed_]);
        out = out << 8U | byte;
    }
    return out;
}

std::size_t message_meter::of_this_message(std::span<const char> bytes) const noexcept {
    const auto length = length_with(bytes);
    if (foreign_ || !length || *length < header_bytes)
        return bytes.size();
    return std::min(bytes.size(), *length - passed_);
}

std::optional<std::size_t> message_meter::pass(std::span<const char> bytes) noexcept {
    const auto length = length_with(bytes);
    foreign_ = foreign_ || (length && *length < header_bytes);
    for (std::size_t i = 0; i < bytes.size() && passed_ + i < length_bytes; ++i)
        begin_[passed_ + i] = static_cast<unsigned char>(bytes[i]);
    passed_ += bytes.size();
    if (foreign_ || !length || passed_ < *length)
        return std::nullopt;
    assert(passed_ == *length);
    passed_ = 0;
    return length;
}

} // namespace cdc::test::gate
