// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/regex_program.hpp"

#include "tests/support/standin/server_error.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace cdc::test::standin {

struct regex_program::impl {
    pcre2_code* code = nullptr;
    pcre2_match_data* match = nullptr;
    impl() = default;
    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;
    ~impl() {
        pcre2_match_data_free(match);
        pcre2_code_free(code);
    }
};

regex_program::regex_program(std::string_view pattern, std::string_view options)
    : impl_(std::make_unique<impl>()) {
    std::uint32_t flags = PCRE2_UTF;
    for (const char c : options) {
        switch (c) {
        case 'i':
            flags |= PCRE2_CASELESS;
            break;
        case 'm':
            flags |= PCRE2_MULTILINE;
            break;
        case 's':
            flags |= PCRE2_DOTALL;
            break;
        case 'x':
            flags |= PCRE2_EXTENDED;
            break;
        case 'u':
            break;
        default:
            throw server_error(51108, std::string("invalid flag in regex options: ") + c);
        }
    }
    int problem = 0;
    PCRE2_SIZE offset = 0;
    impl_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), flags,
                                &problem, &offset, nullptr);
    if (impl_->code == nullptr) {
        PCRE2_UCHAR text[256];
        pcre2_get_error_message(problem, text, sizeof text);
        throw server_error(51091, std::string("Regular expression is invalid: ") +
                                      reinterpret_cast<const char*>(text));
    }
    pcre2_jit_compile(impl_->code, PCRE2_JIT_COMPLETE); // an optimisation; without it, it just runs
    impl_->match = pcre2_match_data_create_from_pattern(impl_->code, nullptr);
}

regex_program::~regex_program() = default;
regex_program::regex_program(regex_program&&) noexcept = default;
regex_program& regex_program::operator=(regex_program&&) noexcept = default;

bool regex_program::found_in(std::string_view text) const {
    return pcre2_match(impl_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                       impl_->match, nullptr) >= 0;
}

} // namespace cdc::test::standin
