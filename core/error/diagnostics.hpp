// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/errc.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cdc::error {

/// An error as a value. `text` is written by us and safe to show anywhere; `server_text` came from
/// a peer and may hold user data, so it is shown in logs only after redaction and never in metrics.
struct diagnostics {
    errc code = errc::internal;
    std::string text;
    int server_code = 0;             ///< the server's `code`, 0 when it did not answer
    std::string server_code_name;    ///< the server's `codeName`
    std::string server_text;         ///< the server's `errmsg`
    std::vector<std::string> labels; ///< the server's `errorLabels`

    bool has_label(std::string_view label) const noexcept;

    /// One line for a person: kind, our text, the server's code and text.
    std::string describe() const;
};

} // namespace cdc::error
