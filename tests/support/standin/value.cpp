// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/value.hpp"

#include <charconv>
#include <cstring>
#include <stdexcept>

namespace cdc::test::standin {

namespace {

template <class T>
std::string bytes_of(T v) {
    std::string out(sizeof v, '\0');
    std::memcpy(out.data(), &v, sizeof v);
    return out;
}

bson::document framed(std::string bytes) {
    auto doc = bson::document::from_bytes(
        {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    return std::move(doc.value());
}

void begin(std::string& out) {
    out.append(4, '\0');
}
void end(std::string& out, std::size_t at) {
    out.push_back('\0');
    const auto size = static_cast<std::uint32_t>(out.size() - at);
    std::memcpy(out.data() + at, &size, sizeof size);
}

} // namespace

std::int64_t array_index(std::string_view component) noexcept {
    if (component.empty() || component.size() > 9 || (component.size() > 1 && component[0] == '0'))
        return -1;
    std::int64_t out = 0;
    const auto [rest, failure] =
        std::from_chars(component.data(), component.data() + component.size(), out);
    if (failure != std::errc() || rest != component.data() + component.size() || out < 0)
        return -1;
    return out;
}

value value::of(const bson::cursor& c) {
    value out(c.kind());
    if (out.is_container()) {
        for (bson::cursor child{c.as_document()}; child.next();)
            out.children_.emplace_back(
                out.is_document() ? std::string(child.name()) : std::string(), of(child));
    } else {
        const auto raw = c.raw_value();
        out.scalar_.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
    }
    return out;
}

value value::of_document(bson::view doc) {
    value out(bson::type::document);
    for (bson::cursor child{doc}; child.next();)
        out.children_.emplace_back(std::string(child.name()), of(child));
    return out;
}

value value::of_int32(std::int32_t v) {
    value out(bson::type::int32);
    out.scalar_ = bytes_of(v);
    return out;
}
value value::of_int64(std::int64_t v) {
    value out(bson::type::int64);
    out.scalar_ = bytes_of(v);
    return out;
}
value value::of_double(double v) {
    value out(bson::type::double_);
    out.scalar_ = bytes_of(v);
    return out;
}

const value* value::find(std::string_view name) const noexcept {
    if (is_array()) {
        const auto i = array_index(name);
        return i >= 0 && static_cast<std::size_t>(i) < children_.size()
                   ? &children_[static_cast<std::size_t>(i)].second
                   : nullptr;
    }
    for (const auto& [key, child] : children_)
        if (key == name)
            return &child;
    return nullptr;
}

value* value::find(std::string_view name) noexcept {
    return const_cast<value*>(std::as_const(*this).find(name));
}

void value::set(std::string_view name, value v) {
    if (value* old = find(name))
        *old = std::move(v);
    else
        children_.emplace_back(std::string(name), std::move(v));
}

bool value::erase(std::string_view name) {
    for (auto it = children_.begin(); it != children_.end(); ++it)
        if (it->first == name) {
            children_.erase(it);
            return true;
        }
    return false;
}

bool value::identical(const value& other) const noexcept {
    if (kind_ != other.kind_ || scalar_ != other.scalar_ ||
        children_.size() != other.children_.size())
        return false;
    for (std::size_t i = 0; i < children_.size(); ++i) {
        const auto& [name, child] = children_[i];
        const auto& [other_name, other_child] = other.children_[i];
        if ((is_document() && name != other_name) || !child.identical(other_child))
            return false;
    }
    return true;
}

void value::append_to(std::string& out, std::string_view name) const {
    out.push_back(static_cast<char>(kind_));
    out.append(name);
    out.push_back('\0');
    if (!is_container()) {
        out.append(scalar_);
        return;
    }
    append_children(out);
}

void value::append_children(std::string& out) const {
    const std::size_t at = out.size();
    begin(out);
    std::size_t i = 0;
    for (const auto& [name, child] : children_)
        child.append_to(out, is_array() ? std::to_string(i++) : name);
    end(out, at);
}

bson::document value::to_document() const {
    std::string out;
    append_children(out);
    return framed(std::move(out));
}

element::element(const value& v) {
    std::string out;
    begin(out);
    v.append_to(out, "");
    end(out, 0);
    one_ = framed(std::move(out));
}

element::element(const bson::cursor& c) {
    std::string out;
    begin(out);
    out.push_back(static_cast<char>(c.kind()));
    out.push_back('\0');
    const auto raw = c.raw_value();
    out.append(reinterpret_cast<const char*>(raw.data()), raw.size());
    end(out, 0);
    one_ = framed(std::move(out));
}

bson::cursor element::cursor() const noexcept {
    bson::cursor c{one_};
    c.next();
    return c;
}

} // namespace cdc::test::standin
