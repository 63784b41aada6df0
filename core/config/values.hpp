// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/parsed_value.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cdc::config {

class option_table;

/// The checked values of one option table: what was given, else the default. Asking for a name that
/// is not in the table, by another type than its row's, or for a value that neither was given nor
/// has a default is a bug and throws std::logic_error; `has` says whether there is one.
/// A plain value; the table must outlive it (tables live as long as the program).
class values {
  public:
    /// Nothing but the defaults; relative paths count from `folder`.
    explicit values(const option_table& table, const std::filesystem::path& folder = {});

    const std::string& text(std::string_view name) const; ///< string, secret, enumeration
    bool boolean(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    std::chrono::milliseconds duration(std::string_view name) const;
    std::uint64_t bytes(std::string_view name) const;
    const std::vector<std::string>& list(std::string_view name) const; ///< empty when not given
    std::filesystem::path path(std::string_view name) const;           ///< absolute

    /// There is a value, given or default.
    bool has(std::string_view name) const;
    /// The key stands in the file, whatever its value.
    bool given(std::string_view name) const;
    /// The text of the value as it may be shown: secrets as ***, empty when there is none.
    std::string shown(std::string_view name) const;

    const option_table& table() const noexcept { return *table_; }

  private:
    friend class option_table;
    struct entry {
        parsed_value value;
        bool given = false;
    };
    std::pair<const option*, const entry*> at(std::string_view name) const;
    template <class T>
    const T& get(std::string_view name) const;

    const option_table* table_;
    std::vector<entry> entries_; ///< one for each row
};

} // namespace cdc::config
