// SPDX-License-Identifier: Apache-2.0
#include "core/bson/base64.hpp"

#include <openssl/evp.h>

#include <limits>
#include <string>

namespace cdc::bson {

char* write_base64(char* to, std::span<const std::uint8_t> bytes) noexcept {
    // A BSON document is at most 2 GiB - 1, so its parts fit the int of this interface.
    return to + EVP_EncodeBlock(reinterpret_cast<unsigned char*>(to), bytes.data(),
                                static_cast<int>(bytes.size()));
}

std::optional<std::vector<std::uint8_t>> read_base64(std::string_view text) {
    if (text.size() % 4 != 0 || text.size() > std::numeric_limits<int>::max())
        return std::nullopt;
    std::vector<std::uint8_t> out(text.size() / 4 * 3);
    if (text.empty())
        return out;
    const int decoded =
        EVP_DecodeBlock(out.data(), reinterpret_cast<const unsigned char*>(text.data()),
                        static_cast<int>(text.size()));
    if (decoded < 0)
        return std::nullopt;
    out.resize(static_cast<std::size_t>(decoded));
    for (std::size_t i = 0; i < 2 && text[text.size() - 1 - i] == '='; ++i)
        out.pop_back();
    // OpenSSL ignores blanks and stray bits, so what came out is written again and compared.
    std::string again(base64_size(out.size()) + 1, '\0');
    const char* end = write_base64(again.data(), out);
    if (std::string_view{again.data(), static_cast<std::size_t>(end - again.data())} != text)
        return std::nullopt;
    return out;
}

} // namespace cdc::bson
