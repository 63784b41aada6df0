// SPDX-License-Identifier: Apache-2.0
#include "core/json/indent.hpp"

#include <algorithm>

namespace cdc::json {

namespace {

constexpr std::string_view blanks = " \t\r\n";

void break_line(std::string& out, std::size_t depth) {
    out += '\n';
    out.append(2 * depth, ' ');
}

/// Behind the quote that ends the string beginning at `from`.
std::size_t end_of_string(std::string_view json, std::size_t from) {
    for (std::size_t i = from + 1; i < json.size(); ++i) {
        if (json[i] == '\\')
            ++i;
        else if (json[i] == '"')
            return i + 1;
    }
    return json.size();
}

} // namespace

void append_indented(std::string& out, std::string_view json) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < json.size();) {
        const char c = json[i];
        switch (c) {
        case '"': {
            const auto end = end_of_string(json, i);
            out += json.substr(i, end - i);
            i = end;
            continue;
        }
        case '{':
        case '[': {
            out += c;
            const auto next = json.find_first_not_of(blanks, i + 1);
            if (next != std::string_view::npos && (json[next] == '}' || json[next] == ']')) {
                out += json[next];
                i = next + 1;
                continue;
            }
            break_line(out, ++depth);
            break;
        }
        case '}':
        case ']':
            depth -= std::min<std::size_t>(depth, 1);
            break_line(out, depth);
            out += c;
            break;
        case ',':
            out += c;
            break_line(out, depth);
            break;
        case ':':
            out += ": ";
            break;
        default:
            if (blanks.find(c) == std::string_view::npos)
                out += c;
        }
        ++i;
    }
}

} // namespace cdc::json
