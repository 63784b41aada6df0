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

std::string topic_name(std::string_view prefix, std::string_view db, std::string_view collection) {
    std::string whole;
    whole.append(prefix).append(".").append(db).append(".").append(collection);
    return cleaned(whole);
}

std::string control_topic_name(std::string_view prefix, std::string_view suffix) {
    std::string whole;
    whole.append(prefix).append(".").append(suffix);
    return cleaned(whole);
}

std::string key_schema_name(std::string_view topic) {
    return std::string{topic} + ".Key";
}

std::string envelope_schema_name(std::string_view topic) {
    return std::string{topic} + ".Envelope";
}

std::string control_schema_name(std::string_view topic) {
    return std::string{topic} + ".Control";
}

} // namespace cdc::event
