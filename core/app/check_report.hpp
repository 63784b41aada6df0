// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/redactor.hpp"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace cdc::app {

enum class verdict {
    ok,
    warn, ///< works, or could not be found out; worth knowing
    fail, ///< a run would not work
};

/// How whoever checks something says what was found: `item` within what is checked ("connect"), and
/// one line of text.
using report_item = std::function<void(verdict, std::string item, std::string text)>;

/// What `mongocdc check` prints: one line an item, at once, in columns.
///
///     ok    inventory.connect  db1:27017, a primary
///
/// Control characters in texts are escaped and secrets that `hidden` knows replaced. One call at a
/// time.
class check_report {
  public:
    /// `widest`: bytes of the longest item name. `out` must outlive it.
    check_report(std::ostream& out, std::size_t widest, std::shared_ptr<const log::redactor> hidden)
        : out_(out)
        , widest_(widest)
        , hidden_(std::move(hidden)) {}

    void add(verdict v, std::string_view item, std::string_view text);

    /// An item failed.
    bool failed() const noexcept { return failed_; }

  private:
    std::ostream& out_;
    std::size_t widest_;
    std::shared_ptr<const log::redactor> hidden_;
    bool failed_ = false;
};

} // namespace cdc::app
