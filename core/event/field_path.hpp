// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cdc::event {

/// Documents nested deeper than this are taken for broken; servers refuse them from about 200 on.
inline constexpr unsigned deepest_document = 1000;

/// Walks the parts of a dotted path: `for (field_path_parts p{path}; p.next();) use(p.part());`
/// A path of no characters has one empty part.
class field_path_parts {
  public:
    explicit field_path_parts(std::string_view path) noexcept
        : rest_(path) {}

    bool next() noexcept {
        if (done_)
            return false;
        const auto dot = rest_.find('.');
        part_ = rest_.substr(0, dot);
        done_ = dot == std::string_view::npos;
        if (!done_)
            rest_.remove_prefix(dot + 1);
        return true;
    }
    std::string_view part() const noexcept { return part_; }

  private:
    std::string_view rest_;
    std::string_view part_;
    bool done_ = false;
};

/// Digits only: what stands for an element of an array in a path of an update description.
inline bool is_array_index(std::string_view part) noexcept {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

} // namespace cdc::event
