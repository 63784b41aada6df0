// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/appender.hpp"
#include "core/bson/view.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::event {

/// The paths of fields that are left out of a collection's events, as a tree of their parts. See
/// field_rules for what a path reaches.
class excluded_fields {
  public:
    void add(const std::vector<std::string>& path);
    bool empty() const noexcept { return root_.children.empty(); }

    /// Appends `document` without the excluded fields to `out`. False when it is malformed, or
    /// nested deeper than any server allows; `out` then ends somewhere inside.
    bool copy_document(bson::view document, std::vector<std::uint8_t>& out) const;
    /// The same of `updatedFields`, whose names are dotted paths.
    bool copy_updated_fields(bson::view updated, std::vector<std::uint8_t>& out) const;

    /// Whether the dotted path is excluded or lies below an excluded field.
    bool covers(std::string_view path) const noexcept;

  private:
    struct node {
        std::string name;
        bool excluded = false; ///< whatever lies below
        std::vector<std::unique_ptr<node>> children;
        const node* child(std::string_view name) const noexcept;
    };
    /// What a dotted path leads to: a node, or null when no rule reaches that far.
    const node* follow(std::string_view path) const noexcept;
    static bool copy_element(const bson::cursor& element, const node* rules, bson::appender& to,
                             unsigned depth);
    static bool copy_elements(bson::view from, bool is_array, const node& rules, bson::appender& to,
                              unsigned depth);

    node root_;
};

} // namespace cdc::event
