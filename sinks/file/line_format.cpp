// SPDX-License-Identifier: Apache-2.0
#include "sinks/file/line_format.hpp"

#include <algorithm>
#include <cstring>

namespace cdc::file {

namespace {

void append_escaped(std::string& out, std::string_view text) {
    static constexpr char hex[] = "0123456789abcdef";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20) {
            out += "\\u00";
            out += hex[byte >> 4];
            out += hex[byte & 15];
        } else {
            out += c;
        }
    }
}

void append_json(std::string& out, std::string_view json) {
    const std::size_t at = out.size();
    out += json;
    if (std::memchr(json.data(), '\n', json.size()) != nullptr)
        std::replace(out.begin() + static_cast<std::ptrdiff_t>(at), out.end(), '\n', ' ');
}

} // namespace

void append_line(std::string& out, const event::record& r) {
    out += line_begin;
    append_escaped(out, r.topic);
    out += R"(","key":)";
    append_json(out, r.key.empty() ? std::string_view("null") : r.key);
    out += R"(,"value":)";
    append_json(out, r.value.value_or("null"));
    out += ",\"headers\":[]}\n";
}

} // namespace cdc::file
