// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"

#include <bson/bson.h>

#include <stdexcept>
#include <string>

namespace cdc::bson {

struct builder::impl {
    bson_t doc = BSON_INITIALIZER;
    std::uint32_t count = 0;

    impl() = default;
    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;
    ~impl() { bson_destroy(&doc); }

    // libbson refuses an append only when the document would pass 2 GiB.
    void check(bool appended) {
        if (!appended)
            throw std::length_error("BSON document too large");
        ++count;
    }
};

namespace {

int length(std::string_view s) {
    return static_cast<int>(s.size());
}

bson_t borrowed(bson::view v) {
    bson_t out;
    if (!bson_init_static(&out, v.data(), v.size()))
        throw std::invalid_argument("not a framed BSON document");
    return out;
}

} // namespace

builder::builder()
    : impl_(std::make_unique<impl>()) {}
builder::~builder() = default;
builder::builder(builder&&) noexcept = default;
builder& builder::operator=(builder&&) noexcept = default;

builder& builder::int32(std::string_view name, std::int32_t v) {
    impl_->check(bson_append_int32(&impl_->doc, name.data(), length(name), v));
    return *this;
}
builder& builder::int64(std::string_view name, std::int64_t v) {
    impl_->check(bson_append_int64(&impl_->doc, name.data(), length(name), v));
    return *this;
}
builder& builder::float64(std::string_view name, double v) {
    impl_->check(bson_append_double(&impl_->doc, name.data(), length(name), v));
    return *this;
}
builder& builder::boolean(std::string_view name, bool v) {
    impl_->check(bson_append_bool(&impl_->doc, name.data(), length(name), v));
    return *this;
}
builder& builder::string(std::string_view name, std::string_view v) {
    impl_->check(bson_append_utf8(&impl_->doc, name.data(), length(name), v.data() ? v.data() : "",
                                  length(v)));
    return *this;
}
builder& builder::null(std::string_view name) {
    impl_->check(bson_append_null(&impl_->doc, name.data(), length(name)));
    return *this;
}
builder& builder::date_ms(std::string_view name, std::int64_t v) {
    impl_->check(bson_append_date_time(&impl_->doc, name.data(), length(name), v));
    return *this;
}
builder& builder::timestamp(std::string_view name, bson::timestamp v) {
    impl_->check(bson_append_timestamp(&impl_->doc, name.data(), length(name), v.t, v.i));
    return *this;
}
builder& builder::binary(std::string_view name, std::uint8_t subtype,
                         std::span<const std::uint8_t> v) {
    impl_->check(bson_append_binary(&impl_->doc, name.data(), length(name),
                                    static_cast<bson_subtype_t>(subtype), v.data(),
                                    static_cast<std::uint32_t>(v.size())));
    return *this;
}
builder& builder::oid(std::string_view name, std::span<const std::uint8_t, 12> v) {
    bson_oid_t oid;
    bson_oid_init_from_data(&oid, v.data());
    impl_->check(bson_append_oid(&impl_->doc, name.data(), length(name), &oid));
    return *this;
}
builder& builder::regex(std::string_view name, std::string_view pattern, std::string_view options) {
    impl_->check(bson_append_regex_w_len(&impl_->doc, name.data(), length(name), pattern.data(),
                                         length(pattern), std::string(options).c_str()));
    return *this;
}
builder& builder::document(std::string_view name, bson::view v) {
    const bson_t d = borrowed(v);
    impl_->check(bson_append_document(&impl_->doc, name.data(), length(name), &d));
    return *this;
}
builder& builder::array(std::string_view name, bson::view v) {
    const bson_t d = borrowed(v);
    impl_->check(bson_append_array(&impl_->doc, name.data(), length(name), &d));
    return *this;
}

builder& builder::value(std::string_view name, const cursor& element) {
    // libbson walks a document, so the element is found again from a one-element document around
    // its own bytes; this keeps every type, the deprecated ones included.
    const auto raw = element.raw_value();
    std::string one;
    const auto size = static_cast<std::uint32_t>(4 + 1 + 1 + raw.size() + 1);
    one.append(reinterpret_cast<const char*>(&size), 4);
    one.push_back(static_cast<char>(element.kind()));
    one.push_back('\0');
    one.append(reinterpret_cast<const char*>(raw.data()), raw.size());
    one.push_back('\0');
    bson_t doc;
    bson_iter_t it;
    if (!bson_init_static(&doc, reinterpret_cast<const std::uint8_t*>(one.data()), one.size()) ||
        !bson_iter_init(&it, &doc) || !bson_iter_next(&it))
        throw std::invalid_argument("malformed BSON element");
    impl_->check(bson_append_iter(&impl_->doc, name.data(), length(name), &it));
    return *this;
}

builder& builder::append_all(bson::view v) {
    for (cursor c{v}; c.next();)
        value(c.name(), c);
    return *this;
}

std::uint32_t builder::count() const noexcept {
    return impl_->count;
}

bson::document builder::finish() {
    std::uint32_t size = 0;
    std::uint8_t* data = bson_destroy_with_steal(&impl_->doc, true, &size);
    bson_init(&impl_->doc);
    impl_->count = 0;
    return bson::document::adopt(data, size);
}

} // namespace cdc::bson
