// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace cdc::test::standin {

/// A compiled regular expression as the server uses them (PCRE, UTF-8; options i, m, s, x).
class regex_program {
  public:
    /// Throws server_error 51091 when the pattern is invalid, 51108 for unknown options.
    regex_program(std::string_view pattern, std::string_view options);
    ~regex_program();
    regex_program(regex_program&&) noexcept;
    regex_program& operator=(regex_program&&) noexcept;

    /// Whether it is found anywhere in `text`.
    bool found_in(std::string_view text) const;

  private:
    struct impl;
    std::unique_ptr<impl> impl_;
};

} // namespace cdc::test::standin
