// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cdc::test::standin {

/// One BSON value that can be changed: documents and arrays as trees, everything else as its raw
/// bytes. What update operators and projections work on.
class value {
  public:
    /// null
    value() = default;
    static value of(const bson::cursor& element);
    static value of_document(bson::view doc);
    static value empty_document() { return value(bson::type::document); }
    static value empty_array() { return value(bson::type::array); }
    static value of_int32(std::int32_t v);
    static value of_int64(std::int64_t v);
    static value of_double(double v);

    bson::type kind() const noexcept { return kind_; }
    bool is_document() const noexcept { return kind_ == bson::type::document; }
    bool is_array() const noexcept { return kind_ == bson::type::array; }
    bool is_container() const noexcept { return is_document() || is_array(); }

    /// A document's fields in order, or an array's elements (their names mean nothing).
    using fields = std::vector<std::pair<std::string, value>>;
    fields& children() noexcept { return children_; }
    const fields& children() const noexcept { return children_; }
    /// The child called `name` (of an array: at that index), or nullptr.
    value* find(std::string_view name) noexcept;
    const value* find(std::string_view name) const noexcept;

    void set(std::string_view name, value v);
    void push_back(value v) { children_.emplace_back(std::string(), std::move(v)); }
    bool erase(std::string_view name);

    /// Same type and bytes, all the way down.
    bool identical(const value& other) const noexcept;

    /// Appends type, name and value as they stand in a document.
    void append_to(std::string& out, std::string_view name) const;
    /// For documents and arrays.
    bson::document to_document() const;

  private:
    explicit value(bson::type kind)
        : kind_(kind) {}
    void append_children(std::string& out) const;

    bson::type kind_ = bson::type::null;
    std::string scalar_;
    fields children_;
};

/// A value that owns its bytes and can be read as an element.
class element {
  public:
    explicit element(const value& v);
    explicit element(const bson::cursor& c);
    bson::cursor cursor() const noexcept;

  private:
    bson::document one_;
};

/// The array index that a path component means, or -1.
std::int64_t array_index(std::string_view component) noexcept;

} // namespace cdc::test::standin
