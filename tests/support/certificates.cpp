// SPDX-License-Identifier: Apache-2.0
#include "tests/support/certificates.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace cdc::test {

namespace {

struct deleter {
    void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
    void operator()(X509* p) const { X509_free(p); }
    void operator()(std::FILE* p) const { std::fclose(p); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, deleter>;
using certificate_ptr = std::unique_ptr<X509, deleter>;

struct identity {
    key_ptr key;
    certificate_ptr certificate;
};

void extend(X509* certificate, X509* issuer, int nid, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* e = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
    if (!e)
        throw std::runtime_error("certificate extension");
    X509_add_ext(certificate, e, -1);
    X509_EXTENSION_free(e);
}

identity make(const char* name, const char* alternative_names, const identity* issuer) {
    identity out;
    out.key.reset(EVP_EC_gen("P-256"));
    out.certificate.reset(X509_new());
    X509* c = out.certificate.get();
    X509_set_version(c, 2);
    static long serial = 1;
    ASN1_INTEGER_set(X509_get_serialNumber(c), serial++);
    X509_gmtime_adj(X509_getm_notBefore(c), -3600);
    X509_gmtime_adj(X509_getm_notAfter(c), 86400);
    X509_set_pubkey(c, out.key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509* signer = issuer ? issuer->certificate.get() : c;
    X509_set_issuer_name(c, X509_get_subject_name(signer));
    extend(c, signer, NID_basic_constraints, issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
    if (alternative_names)
        extend(c, signer, NID_subject_alt_name, alternative_names);
    if (!X509_sign(c, issuer ? issuer->key.get() : out.key.get(), EVP_sha256()))
        throw std::runtime_error("certificate signature");
    return out;
}

void save(const std::string& path, const identity& who, bool with_key) {
    const std::unique_ptr<std::FILE, deleter> f(std::fopen(path.c_str(), "w"));
    if (!f || !PEM_write_X509(f.get(), who.certificate.get()) ||
        (with_key &&
         !PEM_write_PrivateKey(f.get(), who.key.get(), nullptr, nullptr, 0, nullptr, nullptr)))
        throw std::runtime_error("cannot write " + path);
}

} // namespace

certificates::certificates() {
    const auto authority = make("test authority", nullptr, nullptr);
    const auto other = make("other authority", nullptr, nullptr);
    save(ca(), authority, false);
    save(other_ca(), other, false);
    save(server(), make("localhost", "DNS:localhost,IP:127.0.0.1", &authority), true);
    save(wrong_name_server(), make("elsewhere", "DNS:elsewhere.example", &authority), true);
    save(client(), make("test client", nullptr, &authority), true);
}

} // namespace cdc::test
