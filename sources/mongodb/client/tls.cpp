// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/tls.hpp"

#include "sources/mongodb/client/handles.hpp"

#include <boost/asio/ssl/context.hpp>

#include <string>

namespace cdc::mongodb::client {

namespace ssl = boost::asio::ssl;

namespace {

error::diagnostics refuse(const char* option, const std::string& path,
                          const boost::system::error_code& ec) {
    return error::fail(error::errc::configuration, std::string("mongodb.connection.string: ") +
                                                       option + " " + path + ": " + ec.message());
}

} // namespace

error::result<tls_settings> make_tls(const mongoc_uri_t* uri) {
    tls_settings out;
    if (!mongoc_uri_get_tls(uri))
        return out;
    const bool insecure = mongoc_uri_get_option_as_bool(uri, MONGOC_URI_TLSINSECURE, false);
    const bool any_certificate =
        insecure ||
        mongoc_uri_get_option_as_bool(uri, MONGOC_URI_TLSALLOWINVALIDCERTIFICATES, false);
    out.verify_host_name = !any_certificate && !mongoc_uri_get_option_as_bool(
                                                   uri, MONGOC_URI_TLSALLOWINVALIDHOSTNAMES, false);
    out.context = std::make_shared<ssl::context>(ssl::context::tls_client);
    auto& context = *out.context;
    boost::system::error_code ec;
    context.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                            ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                            ssl::context::no_tlsv1_1,
                        ec);
    context.set_verify_mode(any_certificate ? ssl::verify_none : ssl::verify_peer, ec);
    if (const char* ca = mongoc_uri_get_option_as_utf8(uri, MONGOC_URI_TLSCAFILE, nullptr)) {
        context.load_verify_file(ca, ec);
        if (ec)
            return refuse("tlsCAFile", ca, ec);
    } else {
        context.set_default_verify_paths(ec);
    }
    if (const char* pem =
            mongoc_uri_get_option_as_utf8(uri, MONGOC_URI_TLSCERTIFICATEKEYFILE, nullptr)) {
        if (const char* password = mongoc_uri_get_option_as_utf8(
                uri, MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD, nullptr))
            context.set_password_callback(
                [text = std::string(password)](std::size_t, ssl::context::password_purpose) {
                    return text;
                });
        context.use_certificate_chain_file(pem, ec);
        if (ec)
            return refuse("tlsCertificateKeyFile", pem, ec);
        context.use_private_key_file(pem, ssl::context::pem, ec);
        if (ec)
            return refuse("tlsCertificateKeyFile", pem, ec);
    }
    return out;
}

} // namespace cdc::mongodb::client
