// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cdc::config {

/// One thing wrong (or worth a warning) in a configuration. Everything in it is safe to show:
/// secrets and what came from the environment or a file were replaced before.
struct mistake {
    std::string key;      ///< the whole path: connectors.inventory.capture.mode; empty: the file
    std::string value;    ///< what was written, masked; empty: not shown
    std::string problem;  ///< follows the value: `is not allowed`
    std::string allowed;  ///< in words; empty: nothing to say
    std::string nearest;  ///< the known name that was probably meant
    std::size_t line = 0; ///< in the file, from 1; 0: unknown

    /// One line, without the file's name:
    /// `connectors.a.capture.mode: "oplogg" is not allowed; allowed: x, y; did you mean "x"?`
    std::string text() const;
};

/// Makes any text fit to be shown in one line: control characters escaped, at most 80 bytes.
std::string printable(std::string_view text);

/// A key as it may be shown. A key that does not look like one is cut at the first other
/// character: in `mongodb.password:x` a blank is missing and the rest is a password.
std::string printable_key(std::string_view key);

} // namespace cdc::config
