// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/signature.hpp"

#include "core/bson/base64.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <stdexcept>

namespace cdc::webhook {

namespace {

constexpr std::string_view secret_prefix = "whsec_";
constexpr std::size_t shortest_key = 24;
constexpr std::size_t longest_key = 64;
constexpr std::size_t mac_size = 32;

void require(bool done) {
    if (!done)
        throw std::runtime_error("OpenSSL cannot compute HMAC-SHA256");
}

} // namespace

error::result<std::vector<std::uint8_t>> parse_secret(std::string_view secret) {
    using error::errc;
    if (!secret.starts_with(secret_prefix))
        return error::fail(errc::configuration, "does not begin with whsec_");
    auto key = bson::read_base64(secret.substr(secret_prefix.size()));
    if (!key)
        return error::fail(errc::configuration, "is not base64 (padded) behind whsec_");
    if (key->size() < shortest_key || key->size() > longest_key)
        return error::fail(errc::configuration,
                           "holds " + std::to_string(key->size()) + " bytes, not 24 to 64");
    return std::move(*key);
}

void signer::free_context::operator()(EVP_MAC_CTX* c) const noexcept {
    EVP_MAC_CTX_free(c);
}

signer::signer(std::span<const std::uint8_t> key) {
    EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    keyed_.reset(EVP_MAC_CTX_new(mac));
    EVP_MAC_free(mac); // the context holds a reference
    require(keyed_ != nullptr);
    char digest[] = "SHA256";
    const std::array<OSSL_PARAM, 2> parameters{
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end()};
    require(EVP_MAC_init(keyed_.get(), key.data(), key.size(), parameters.data()) == 1);
}

signer::~signer() = default;
signer::signer(signer&&) noexcept = default;
signer& signer::operator=(signer&&) noexcept = default;

std::string signer::sign(std::string_view id, std::int64_t timestamp, std::string_view body) const {
    const std::unique_ptr<EVP_MAC_CTX, free_context> mac(EVP_MAC_CTX_dup(keyed_.get()));
    require(mac != nullptr);
    const std::string head = std::string(id) + "." + std::to_string(timestamp) + ".";
    for (const std::string_view part : {std::string_view(head), body})
        require(EVP_MAC_update(mac.get(), reinterpret_cast<const unsigned char*>(part.data()),
                               part.size()) == 1);
    std::array<std::uint8_t, mac_size> digest;
    std::size_t size = 0;
    require(EVP_MAC_final(mac.get(), digest.data(), &size, digest.size()) == 1);

    std::array<char, bson::base64_size(mac_size) + 1> text;
    const char* end = bson::write_base64(text.data(), {digest.data(), size});
    return "v1," + std::string(static_cast<const char*>(text.data()), end);
}

} // namespace cdc::webhook
