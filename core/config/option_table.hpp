// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/option.hpp"
#include "core/config/raw_value.hpp"
#include "core/config/report.hpp"
#include "core/config/values.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::config {

/// What a table's own check (rules over several options) may look at and say.
class option_check {
  public:
    option_check(const values& of, std::string prefix, const raw_values& raw, report& to)
        : of_(of)
        , prefix_(std::move(prefix))
        , raw_(raw)
        , to_(to) {}

    const values& of() const noexcept { return of_; }
    /// `name` and what it says about it; the text must not repeat values.
    void mistake(std::string_view name, std::string problem, std::string allowed = {});

  private:
    const values& of_;
    std::string prefix_;
    const raw_values& raw_;
    report& to_;
};

/// All options of one thing (the service, a source, a sink): the rows, and checks that look at
/// several of them. Built once, immutable, read from any thread.
class option_table {
  public:
    using cross_check = std::function<void(option_check&)>;

    /// Throws std::logic_error for rows that contradict themselves (two of one name, a default that
    /// its own row refuses), so that a table cannot be wrong unnoticed.
    /// `check` runs after the single values; options with mistakes hold no value in it, so it asks
    /// `has` first.
    option_table(std::string name, std::string title, std::vector<option> rows,
                 cross_check check = {});

    const std::string& name() const noexcept { return name_; }   ///< "mongodb"
    const std::string& title() const noexcept { return title_; } ///< heading in the reference
    const std::vector<option>& rows() const noexcept { return rows_; }

    /// The row for a key, also by prefix rows; nullptr: unknown.
    const option* find(std::string_view key) const noexcept;

    /// The supported key that was probably meant, else any other known key; empty: none is near.
    std::string_view nearest_key(std::string_view key) const;

    /// Reads everything given, reporting all mistakes under `prefix` ("connectors.inventory.").
    /// The values are usable only when no mistake was reported. Relative paths count from `folder`.
    values read(const raw_values& given, const std::string& prefix,
                const std::filesystem::path& folder, report& to) const;

    /// The value an option has when it is not given; monostate: none.
    parsed_value default_of(const option& row, const std::filesystem::path& folder) const;

  private:
    std::string name_;
    std::string title_;
    std::vector<option> rows_;
    cross_check check_;
};

} // namespace cdc::config
