// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace cdc::mongodb {

/// One item of an include or exclude list, compiled. The wall around PCRE2.
///
/// An item without a metacharacter (`\ ^ $ * + ? { } [ ] | ( )`) but the dot is a literal: its dot
/// stands for a dot only. Debezium reads every item as a regex, so that there `a.b` also matches
/// `aXb`; nobody means that. Any other item is a regex. Both must match the whole text and ignore
/// case, as Debezium's do.
///
/// Immutable and thread-safe once compiled, but `matches` needs scratch memory of its own.
class pattern {
  public:
    /// Errors: configuration; the text says where the item is wrong.
    static error::result<pattern> compile(std::string_view item);
    ~pattern();
    pattern(pattern&&) noexcept;
    pattern& operator=(pattern&&) noexcept;

    /// Whether the whole of `text` matches. Text that is not UTF-8 never does.
    /// Errors: configuration, when matching takes more steps than the limit allows: neither answer
    /// would be safe then.
    error::result<bool> matches(std::string_view text) const;

    bool literal() const noexcept { return literal_; }
    /// The item as it was given.
    const std::string& text() const noexcept { return text_; }

    /// True for an item without a metacharacter but the dot.
    static bool is_literal(std::string_view item) noexcept;
    /// `text` as a regex that matches just it.
    static std::string escape(std::string_view text);

  private:
    struct compiled;
    pattern(std::string text, bool literal, std::unique_ptr<compiled> c);

    std::string text_;
    bool literal_;
    std::unique_ptr<compiled> compiled_;
};

} // namespace cdc::mongodb
