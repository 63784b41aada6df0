// SPDX-License-Identifier: Apache-2.0
#include "core/bson/base64.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace cdc::bson;

namespace {

std::string encode(const std::vector<std::uint8_t>& bytes) {
    std::string out(base64_size(bytes.size()) + 1, '\0');
    out.resize(static_cast<std::size_t>(write_base64(out.data(), bytes) - out.data()));
    return out;
}

} // namespace

TEST_CASE("base64 goes both ways", "[bson]") {
    CHECK(encode({}).empty());
    CHECK(encode({'k'}) == "aw==");
    CHECK(encode({'k', 'a'}) == "a2E=");
    CHECK(encode({'k', 'a', 'f'}) == "a2Fm");
    CHECK(encode({0xfb, 0xff, 0xfe}) == "+//+");
    std::vector<std::uint8_t> bytes;
    for (int i = 0; i < 300; ++i) {
        const auto text = encode(bytes);
        CHECK(text.size() == base64_size(bytes.size()));
        REQUIRE(read_base64(text) == bytes);
        bytes.push_back(static_cast<std::uint8_t>(i * 37));
    }
}

TEST_CASE("base64 in any other form is refused", "[bson]") {
    for (const char* text : {"a", "ab", "abc", "a===", "====", "aw=a", "ax==", "a2F!", " a2Fm",
                             "a2Fm\n\n\n\n", "a-_m"}) {
        INFO(text);
        CHECK_FALSE(read_base64(text));
    }
}
