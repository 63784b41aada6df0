// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/uri.hpp"

#include "core/bson/document.hpp"
#include "sources/mongodb/client/handles.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>

namespace cdc::mongodb::client {

namespace {

/// True for user information that percent-encoding would have changed.
bool needs_encoding(std::string_view user_info) {
    constexpr std::string_view hex = "0123456789abcdefABCDEF";
    if (std::count(user_info.begin(), user_info.end(), ':') > 1)
        return true;
    for (std::size_t i = 0; i < user_info.size(); ++i)
        if (user_info[i] == '%' &&
            (i + 2 >= user_info.size() || hex.find(user_info[i + 1]) == std::string_view::npos ||
             hex.find(user_info[i + 2]) == std::string_view::npos))
            return true;
    return user_info.find_first_of("/?#[]") != std::string_view::npos;
}

/// What is most often wrong, without showing what was written.
std::string explain(std::string_view uri) {
    std::string text = "mongodb.connection.string is not a valid MongoDB URI";
    const auto scheme = uri.find("://");
    if (scheme == std::string_view::npos ||
        (!uri.starts_with("mongodb://") && !uri.starts_with("mongodb+srv://")))
        return text + ": it must begin with mongodb:// or mongodb+srv://";
    auto authority = uri.substr(scheme + 3);
    authority = authority.substr(0, authority.find_first_of("/?"));
    const auto ats = std::count(authority.begin(), authority.end(), '@');
    if (ats > 1)
        return text + ": an @ in the user name or password must be percent-encoded as %40";
    const auto user_info = ats == 1 ? authority.substr(0, authority.find('@')) : "";
    if (needs_encoding(user_info))
        return text + ": characters such as : / ? # [ ] @ % in the user name or password must be "
                      "percent-encoded";
    if (uri.starts_with("mongodb+srv://"))
        return text +
               ": after mongodb+srv:// comes one name of at least three parts, without a port";
    if (authority.empty())
        return text + ": it names no host";
    return text + ": check hosts and options";
}

std::string percent_encoded(std::string_view raw) {
    std::string out;
    for (const char c : raw) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain)
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

std::string text_of(const bson::cursor& value) {
    switch (value.kind()) {
    case bson::type::string:
        return std::string(value.as_string());
    case bson::type::boolean:
        return value.as_bool() ? "true" : "false";
    default:
        return std::to_string(value.as_integer().value_or(0));
    }
}

/// The URI with more hosts behind its own. Each name once: the driver would ask it twice.
std::string with_more_hosts(const std::string& uri, const std::vector<std::string>& more) {
    constexpr std::string_view scheme = "mongodb://";
    if (!uri.starts_with(scheme))
        return uri; // an SRV name is looked up each time
    const auto end = std::min(uri.find_first_of("/?", scheme.size()), uri.size());
    const auto at = uri.rfind('@', end);
    const auto begin = at == std::string::npos || at < scheme.size() ? scheme.size() : at + 1;
    std::string hosts = uri.substr(begin, end - begin);
    for (const auto& host : more)
        if (("," + hosts + ",").find("," + host + ",") == std::string::npos)
            hosts += "," + host;
    return uri.substr(0, begin) + hosts + uri.substr(end);
}

} // namespace

bool stays_on_host(const client_options& options) {
    if (options.stay_on_host)
        return true;
    bson_error_t ignored;
    const uri_handle uri(mongoc_uri_new_with_error(options.uri.c_str(), &ignored));
    return uri && mongoc_uri_get_option_as_bool(uri.get(), MONGOC_URI_DIRECTCONNECTION, false);
}

error::result<mongoc_uri_t*> make_uri(const client_options& options) {
    const bool alone = stays_on_host(options);
    const auto text = alone ? options.uri : with_more_hosts(options.uri, options.known_members);
    bson_error_t ignored; // its text may quote the URI
    uri_handle uri(mongoc_uri_new_with_error(text.c_str(), &ignored));
    if (!uri)
        return error::fail(error::errc::configuration, explain(options.uri));
    if (options.stay_on_host &&
        (mongoc_uri_get_srv_hostname(uri.get()) || mongoc_uri_get_hosts(uri.get())->next))
        return error::fail(error::errc::configuration,
                           "mongodb.members.auto.discover is false, but mongodb.connection.string "
                           "names more than one host");
    for (const auto* host = mongoc_uri_get_hosts(uri.get()); host; host = host->next)
        if (host->host[0] == '/')
            return error::fail(
                error::errc::configuration,
                "mongodb.connection.string names a UNIX socket; only TCP is supported");
    if (!mongoc_uri_get_username(uri.get()) && !options.user.empty()) {
        if (!mongoc_uri_set_username(uri.get(), options.user.c_str()) ||
            !mongoc_uri_set_password(uri.get(), options.password.c_str()))
            return error::fail(error::errc::configuration,
                               "mongodb.user or mongodb.password is not valid UTF-8");
        mongoc_uri_set_auth_source(uri.get(), options.auth_source.c_str());
    }
    const auto ms = [](std::chrono::milliseconds d) {
        return static_cast<std::int32_t>(d.count());
    };
    auto* u = uri.get();
    // Without try-once a poisoned client would go round in server selection without pause; retries
    // belong to the resume policy, where they are visible and bounded.
    mongoc_uri_set_option_as_bool(u, MONGOC_URI_SERVERSELECTIONTRYONCE, true);
    mongoc_uri_set_option_as_bool(u, MONGOC_URI_RETRYREADS, false);
    mongoc_uri_set_option_as_bool(u, MONGOC_URI_RETRYWRITES, false);
    mongoc_uri_set_option_as_int32(u, MONGOC_URI_CONNECTTIMEOUTMS, ms(options.connect_timeout));
    mongoc_uri_set_option_as_int32(u, MONGOC_URI_SOCKETTIMEOUTMS, ms(options.socket_timeout));
    mongoc_uri_set_option_as_int32(u, MONGOC_URI_SERVERSELECTIONTIMEOUTMS,
                                   ms(options.server_selection_timeout));
    // Without this option a single host without replicaSet would be taken alone, even a secondary.
    mongoc_uri_set_option_as_bool(u, MONGOC_URI_DIRECTCONNECTION, alone);
#if MONGOC_CHECK_VERSION(2, 3, 0)
    mongoc_uri_set_option_as_int32(u, "maxadaptiveretries", 0);
#endif
    if (!mongoc_uri_get_appname(u))
        mongoc_uri_set_appname(u, options.app_name.c_str());
    return uri.release();
}

error::result<mongoc_uri_t*> with_hosts(const mongoc_uri_t* uri, const std::string& hosts) {
    std::string text = "mongodb://";
    if (const char* user = mongoc_uri_get_username(uri)) {
        text += percent_encoded(user);
        if (const char* password = mongoc_uri_get_password(uri))
            text += ":" + percent_encoded(password);
        text += "@";
    }
    text += hosts + "/";
    if (const char* db = mongoc_uri_get_database(uri))
        text += percent_encoded(db);
    char separator = '?';
    const auto append = [&](const bson_t* options) {
        const auto v = options ? bson::view::from({bson_get_data(options), options->len})
                               : error::result<bson::view>(bson::view{});
        if (!v)
            return;
        for (bson::cursor c{*v}; c.next();) {
            if (c.kind() == bson::type::document)
                continue; // mechanism properties are set below
            text += separator;
            text += std::string(c.name()) + "=" + percent_encoded(text_of(c));
            separator = '&';
        }
    };
    append(mongoc_uri_get_options(uri));
    append(mongoc_uri_get_credentials(uri));
    bson_error_t ignored;
    uri_handle out(mongoc_uri_new_with_error(text.c_str(), &ignored));
    if (!out)
        return error::fail(error::errc::configuration,
                           "the hosts and options behind the SRV name do not form a valid URI");
    bson_t properties;
    if (mongoc_uri_get_mechanism_properties(uri, &properties))
        mongoc_uri_set_mechanism_properties(out.get(), &properties);
    return out.release();
}

bool needs_thread(const mongoc_uri_t* uri) {
    const char* mechanism = mongoc_uri_get_auth_mechanism(uri);
    if (!mechanism)
        return false;
    for (const char* blocking : {"GSSAPI", "MONGODB-AWS", "MONGODB-OIDC"})
        if (strcasecmp(mechanism, blocking) == 0)
            return true;
    return false;
}

} // namespace cdc::mongodb::client
