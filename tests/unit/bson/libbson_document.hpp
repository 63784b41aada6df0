// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <bson/bson.h>

#include <string>
#include <string_view>

namespace cdc::test {

/// A document built by libbson itself, for the types that bson::builder does not know:
///     libbson_document d;  BSON_APPEND_SYMBOL(d, "s", "x");  use(d.view());
class libbson_document {
  public:
    libbson_document()
        : doc_(bson_new()) {}
    ~libbson_document() { bson_destroy(doc_); }
    libbson_document(const libbson_document&) = delete;
    libbson_document& operator=(const libbson_document&) = delete;

    operator bson_t*() noexcept { return doc_; } // NOLINT: reads as the libbson object
    bson::view view() const { return *bson::view::from({bson_get_data(doc_), doc_->len}); }

  private:
    bson_t* doc_;
};

/// `{v: <text>}` with bytes as they are, valid UTF-8 or not.
inline bson::document document_with_string(std::string_view name, std::string_view text) {
    std::string bytes(4, '\0');
    bytes.push_back(2);
    bytes.append(name).push_back('\0');
    const auto size = static_cast<std::uint32_t>(text.size() + 1);
    bytes.append(reinterpret_cast<const char*>(&size), 4);
    bytes.append(text).append(2, '\0');
    const auto whole = static_cast<std::uint32_t>(bytes.size());
    bytes.replace(0, 4, reinterpret_cast<const char*>(&whole), 4);
    return *bson::document::from_bytes(
        {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

} // namespace cdc::test
