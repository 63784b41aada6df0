// SPDX-License-Identifier: Apache-2.0
#include "core/error/diagnostics.hpp"

#include <algorithm>

namespace cdc::error {

bool diagnostics::has_label(std::string_view label) const noexcept {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::string diagnostics::describe() const {
    std::string out{text};
    if (out.empty())
        out = name(code);
    if (server_code != 0) {
        out += " (server code " + std::to_string(server_code);
        if (!server_code_name.empty())
            out += " " + server_code_name;
        out += ")";
    }
    if (!server_text.empty() && server_text != text)
        out += ": " + server_text;
    return out;
}

} // namespace cdc::error
