// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <memory>

namespace boost::asio::ssl {
class context;
}
struct _mongoc_uri_t;

namespace cdc::mongodb::client {

/// TLS as a connection string asks for it.
struct tls_settings {
    std::shared_ptr<boost::asio::ssl::context> context; ///< null: no TLS
    bool verify_host_name = true;
};

/// Reads the URI's TLS options: tls, tlsCAFile (else the system's authorities),
/// tlsCertificateKeyFile with password, tlsAllowInvalidCertificates, tlsAllowInvalidHostnames,
/// tlsInsecure. Blocks (reads files). Errors: configuration, naming the option and the path.
error::result<tls_settings> make_tls(const _mongoc_uri_t* uri);

} // namespace cdc::mongodb::client
