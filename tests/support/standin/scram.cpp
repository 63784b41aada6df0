// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/scram.hpp"

#include "tests/support/standin/server_error.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <stdexcept>
#include <vector>

namespace cdc::test::standin {

namespace {

using key = scram_credentials::key;

const unsigned char* bytes(std::string_view s) {
    return reinterpret_cast<const unsigned char*>(s.data());
}

std::string base64(std::string_view data) {
    std::string out((data.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes(data),
                                     static_cast<int>(data.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}
std::string base64(const key& k) {
    return base64(std::string_view(reinterpret_cast<const char*>(k.data()), k.size()));
}

std::string random_base64(int size) {
    std::vector<unsigned char> raw(static_cast<std::size_t>(size));
    if (RAND_bytes(raw.data(), size) != 1)
        throw std::runtime_error("no random bytes");
    return base64(std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size()));
}

key hmac(const key& k, std::string_view text) {
    key out{};
    unsigned size = 0;
    HMAC(EVP_sha256(), k.data(), static_cast<int>(k.size()), bytes(text), text.size(), out.data(),
         &size);
    return out;
}

key sha256(const key& k) {
    key out{};
    SHA256(k.data(), k.size(), out.data());
    return out;
}

server_error refused() {
    return {code::authentication_failed, "Authentication failed."};
}

/// The value of `name=value` among comma-separated attributes.
std::string attribute(std::string_view message, char name) {
    while (!message.empty()) {
        const std::size_t comma = message.find(',');
        const std::string_view part = message.substr(0, comma);
        if (part.size() >= 2 && part[0] == name && part[1] == '=')
            return std::string(part.substr(2));
        if (comma == std::string_view::npos)
            break;
        message.remove_prefix(comma + 1);
    }
    throw refused();
}

std::string unescape(std::string text) {
    for (const auto& [from, to] : {std::pair{"=2C", ','}, std::pair{"=3D", '='}})
        for (std::size_t at = text.find(from); at != std::string::npos;
             at = text.find(from, at + 1))
            text.replace(at, 3, 1, to);
    return text;
}

} // namespace

scram_credentials scram_credentials::of(std::string_view password) {
    for (const char c : password)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e)
            throw std::runtime_error("the stand-in takes ASCII passwords only");
    scram_credentials out;
    std::array<unsigned char, 28> raw{};
    if (RAND_bytes(raw.data(), static_cast<int>(raw.size())) != 1)
        throw std::runtime_error("no random bytes");
    out.salt = base64(std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size()));
    key salted{};
    if (PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), raw.data(),
                          static_cast<int>(raw.size()), out.iterations, EVP_sha256(),
                          static_cast<int>(salted.size()), salted.data()) != 1)
        throw std::runtime_error("PBKDF2 failed");
    out.stored = sha256(hmac(salted, "Client Key"));
    out.server = hmac(salted, "Server Key");
    return out;
}

std::string scram_conversation::step(std::string_view message) {
    switch (state_) {
    case state::first:
        return first(message);
    case state::final:
        return final(message);
    case state::empty:
        state_ = state::done;
        return {};
    case state::done:
        break;
    }
    throw refused();
}

std::string scram_conversation::first(std::string_view message) {
    // "n,,n=user,r=nonce": no channel binding, no other identity.
    const std::size_t header = message.find(",,");
    if (header != 1 || (message[0] != 'n' && message[0] != 'y'))
        throw refused();
    client_first_bare_ = message.substr(3);
    user_ = unescape(attribute(client_first_bare_, 'n'));
    nonce_ = attribute(client_first_bare_, 'r') + random_base64(24);
    credentials_ = find_(user_);
    if (credentials_ == nullptr)
        throw refused();
    server_first_ = "r=" + nonce_ + ",s=" + credentials_->salt +
                    ",i=" + std::to_string(credentials_->iterations);
    state_ = state::final;
    return server_first_;
}

std::string scram_conversation::final(std::string_view message) {
    const std::size_t proof_at = message.rfind(",p=");
    if (proof_at == std::string_view::npos || attribute(message, 'r') != nonce_)
        throw refused();
    const std::string signed_text =
        client_first_bare_ + "," + server_first_ + "," + std::string(message.substr(0, proof_at));
    const key signature = hmac(credentials_->stored, signed_text);
    const std::string proof = attribute(message.substr(proof_at + 1), 'p');
    std::vector<unsigned char> sent(proof.size() + 3);
    const int size = EVP_DecodeBlock(sent.data(), bytes(proof), static_cast<int>(proof.size()));
    if (size < 0 || proof.size() != 44) // 32 bytes in base64
        throw refused();
    key client_key{};
    for (std::size_t i = 0; i < client_key.size(); ++i)
        client_key[i] = sent[i] ^ signature[i];
    const key stored = sha256(client_key);
    if (CRYPTO_memcmp(stored.data(), credentials_->stored.data(), stored.size()) != 0)
        throw refused();
    state_ = skip_empty_exchange_ ? state::done : state::empty;
    return "v=" + base64(hmac(credentials_->server, signed_text));
}

} // namespace cdc::test::standin
