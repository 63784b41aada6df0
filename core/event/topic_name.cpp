// SPDX-License-Identifier: Apache-2.0
#include "core/event/topic_name.hpp"

#include "core/json/utf8.hpp"

namespace cdc::event {

namespace {

constexpr std::size_t longest_topic = 249; // Kafka's limit

bool allowed(char32_t c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

std::string cleaned(std::string_view whole) {
    std::string out;
    const char* at = whole.data();
    const char* const end = at + whole.size();
    while (at != end && out.size() < longest_topic) {
        const json::utf8_scalar c = json::read_utf8(at, end);
        if (allowed(c.value))
            out.push_back(static_cast<char>(c.value));
        else
            out.append(c.value > 0xffff ? 2 : 1, '_');
        at += c.size;
    }
    if (out.size() > longest_topic)
        out.resize(longest_topic);
    if (out == ".")
        return "_";
    if (out == "..")
        return "__";
    return out;
}

} // namespace

std::string topic_name(const naming& names, std::string_view db, std::string_view collection) {
    std::string whole = names.prefix;
    whole.append(names.delimiter).append(db).append(names.delimiter).append(collection);
    return cleaned(whole);
}

std::string control_topic_name(const naming& names, std::string_view suffix) {
    return cleaned(std::string{names.prefix}.append(names.delimiter).append(suffix));
}

std::string schema_name(const naming& names, std::string_view topic, std::string_view kind) {
    return adjusted(std::string{topic}.append(".").append(kind), names.schema_names);
}

} // namespace cdc::event
