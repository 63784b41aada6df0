// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "sources/mongodb/pattern.hpp"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>

namespace cdc::mongodb {

namespace {

// Namespaces are short; what needs more than this is a pattern that explodes.
constexpr std::uint32_t match_limit = 100000;
constexpr std::uint32_t heap_limit_kib = 1024;
constexpr std::string_view metacharacters = "\\^$*+?{}[]|()";

std::string message_of(int code) {
    std::array<PCRE2_UCHAR, 256> buffer{};
    pcre2_get_error_message(code, buffer.data(), buffer.size());
    return reinterpret_cast<const char*>(buffer.data());
}

bool alphanumeric(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

} // namespace

struct pattern::compiled {
    struct free_code {
        void operator()(pcre2_code* p) const noexcept { pcre2_code_free(p); }
    };
    struct free_data {
        void operator()(pcre2_match_data* p) const noexcept { pcre2_match_data_free(p); }
    };
    struct free_context {
        void operator()(pcre2_match_context* p) const noexcept { pcre2_match_context_free(p); }
    };
    std::unique_ptr<pcre2_code, free_code> code;
    std::unique_ptr<pcre2_match_data, free_data> data;
    std::unique_ptr<pcre2_match_context, free_context> context;
};

pattern::pattern(std::string text, bool literal, std::unique_ptr<compiled> c)
    : text_(std::move(text))
    , literal_(literal)
    , compiled_(std::move(c)) {}
pattern::~pattern() = default;
pattern::pattern(pattern&&) noexcept = default;
pattern& pattern::operator=(pattern&&) noexcept = default;

bool pattern::is_literal(std::string_view item) noexcept {
    return item.find_first_of(metacharacters) == std::string_view::npos;
}

std::string pattern::escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
        // A backslash before anything but letters and digits is always a literal; bytes of UTF-8
        // sequences must stay as they are.
        if (static_cast<unsigned char>(c) < 0x80 && !alphanumeric(c) && c != '_')
            out += '\\';
        out += c;
    }
    return out;
}

error::result<pattern> pattern::compile(std::string_view item) {
    const bool literal = is_literal(item);
    const std::string source = literal ? escape(item) : std::string(item);
    auto c = std::make_unique<compiled>();
    int code = 0;
    PCRE2_SIZE offset = 0;
    // Literals too go through the engine, so that both kinds ignore case in the same way, which is
    // also the server's.
    c->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(source.data()), source.size(),
                                PCRE2_UTF | PCRE2_CASELESS | PCRE2_ANCHORED | PCRE2_ENDANCHORED |
                                    PCRE2_NEVER_BACKSLASH_C,
                                &code, &offset, nullptr));
    if (!c->code) {
        if (literal)
            return error::fail(error::errc::configuration, "not UTF-8");
        return error::fail(
            error::errc::configuration,
            fmt::format("not a regular expression: {} at character {}", message_of(code), offset));
    }
    pcre2_jit_compile(c->code.get(), PCRE2_JIT_COMPLETE); // without JIT the interpreter does it
    c->data.reset(pcre2_match_data_create_from_pattern(c->code.get(), nullptr));
    c->context.reset(pcre2_match_context_create(nullptr));
    if (!c->data || !c->context)
        throw std::bad_alloc();
    pcre2_set_match_limit(c->context.get(), match_limit);
    pcre2_set_heap_limit(c->context.get(), heap_limit_kib);
    return pattern(std::string(item), literal, std::move(c));
}

error::result<bool> pattern::matches(std::string_view text) const {
    const int rc = pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                               text.size(), 0, 0, compiled_->data.get(), compiled_->context.get());
    if (rc >= 0)
        return true;
    // Not PCRE2_MATCH_INVALID_UTF for text that is not UTF-8: with it the JIT of 10.42 matches \W
    // with ASCII only.
    if (rc == PCRE2_ERROR_NOMATCH || (rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21))
        return false;
    return error::fail(error::errc::configuration,
                       fmt::format("cannot be matched: {}", message_of(rc)));
}

} // namespace cdc::mongodb
