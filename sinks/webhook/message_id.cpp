// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/message_id.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace cdc::webhook {

std::string message_id(std::string_view connector, std::string_view sink, std::string_view topic,
                       std::string_view token, std::uint32_t index) {
    std::string text;
    text.reserve(connector.size() + sink.size() + topic.size() + token.size() + 16);
    for (const auto part : {connector, sink, topic, token}) {
        text += part;
        text += '\0';
    }
    text += std::to_string(index);

    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
        throw std::runtime_error("OpenSSL has no SHA-256");
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out = "msg_";
    for (std::size_t i = 0; i < 16; ++i) {
        out += hex[digest[i] >> 4];
        out += hex[digest[i] & 15];
    }
    return out;
}

} // namespace cdc::webhook
