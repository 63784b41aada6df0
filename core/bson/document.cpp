// SPDX-License-Identifier: Apache-2.0
#include "core/bson/document.hpp"

#include <bson/bson.h>

#include <cstring>

namespace cdc::bson {

void document::free_by_libbson::operator()(std::uint8_t* p) const noexcept {
    bson_free(p);
}

document document::adopt(std::uint8_t* data, std::size_t size) noexcept {
    document out;
    out.data_.reset(data);
    if (auto v = bson::view::from({data, size}))
        out.view_ = *v;
    return out;
}

document document::copy_of(bson::view v) {
    auto* data = static_cast<std::uint8_t*>(bson_malloc(v.size()));
    std::memcpy(data, v.data(), v.size());
    return adopt(data, v.size());
}

error::result<document> document::from_bytes(std::span<const std::uint8_t> bytes) {
    auto v = bson::view::from(bytes);
    if (!v)
        return v.error();
    return copy_of(*v);
}

} // namespace cdc::bson
