// SPDX-License-Identifier: Apache-2.0
#include "core/bson/appender.hpp"

#include <cstring>

namespace cdc::bson {

void appender::put(std::span<const std::uint8_t> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
}

void appender::number(std::uint32_t value) {
    std::uint8_t bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    put(bytes);
}

void appender::head(type kind, std::string_view name) {
    out_.push_back(static_cast<std::uint8_t>(kind));
    put({reinterpret_cast<const std::uint8_t*>(name.data()), name.size()});
    out_.push_back(0);
}

appender::mark appender::open() {
    const mark at = out_.size();
    number(0); // the size, set by close
    return at;
}

appender::mark appender::open(type kind, std::string_view name) {
    head(kind, name);
    return open();
}

void appender::close(mark opened) {
    out_.push_back(0);
    const auto size = static_cast<std::uint32_t>(out_.size() - opened);
    std::memcpy(out_.data() + opened, &size, sizeof size);
}

void appender::copy(const cursor& element, std::string_view name) {
    head(element.kind(), name);
    put(element.raw_value());
}

void appender::string(std::string_view name, std::string_view value) {
    head(type::string, name);
    number(static_cast<std::uint32_t>(value.size()) + 1);
    put({reinterpret_cast<const std::uint8_t*>(value.data()), value.size()});
    out_.push_back(0);
}

} // namespace cdc::bson
