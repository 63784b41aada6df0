// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/client/driver_error.hpp"

#include "sources/mongodb/client/handles.hpp"

namespace cdc::mongodb::client {

using error::errc;

namespace {

constexpr int authentication_failed = 18;

error::diagnostics network(const bson_error_t& error, const wire_evidence& evidence) {
    error::diagnostics out;
    out.code = evidence.timed_out ? errc::timeout : errc::network;
    out.text = evidence.failure.empty() ? std::string(error.message) : evidence.failure;
    return out;
}

bool is_stream_trouble(std::uint32_t code) noexcept {
    return code == MONGOC_ERROR_STREAM_NAME_RESOLUTION || code == MONGOC_ERROR_STREAM_SOCKET ||
           code == MONGOC_ERROR_STREAM_CONNECT || code == MONGOC_ERROR_STREAM_NOT_ESTABLISHED;
}

} // namespace

error::diagnostics server_error(bson::view reply) {
    error::diagnostics out;
    out.code = errc::server;
    out.text = "the server refused the command";
    for (bson::cursor c{reply}; c.next();) {
        if (c.name() == "code")
            out.server_code = static_cast<int>(c.as_integer().value_or(0));
        else if (c.name() == "codeName" && c.kind() == bson::type::string)
            out.server_code_name = c.as_string();
        else if (c.name() == "errmsg" && c.kind() == bson::type::string)
            out.server_text = c.as_string();
        else if (c.name() == "errorLabels" && c.kind() == bson::type::array)
            for (bson::cursor label{c.as_document()}; label.next();)
                if (label.kind() == bson::type::string)
                    out.labels.emplace_back(label.as_string());
    }
    return out;
}

error::diagnostics translate(const bson_error_t& error, bson::view reply,
                             const wire_evidence& evidence) {
    if (evidence.cancelled)
        return error::fail(errc::cancelled, "cancelled");
    if (const auto ok = bson::find(reply, "ok"); ok && !ok->truthy())
        return server_error(reply);
    switch (error.domain) {
    case MONGOC_ERROR_CLIENT:
        // How a scan says that a member did not answer its hello: when that was for want of time,
        // no stream has failed.
        if (is_stream_trouble(error.code))
            return network(error, evidence);
        if (error.code != MONGOC_ERROR_CLIENT_AUTHENTICATE)
            break;
        if (!evidence.failure.empty())
            return network(error, evidence);
        {
            error::diagnostics out = error::fail(errc::authentication, "authentication failed");
            out.server_code = authentication_failed;
            out.server_code_name = "AuthenticationFailed";
            out.server_text = error.message;
            return out;
        }
    case MONGOC_ERROR_SCRAM:
    case MONGOC_ERROR_SASL: {
        if (!evidence.failure.empty())
            return network(error, evidence);
        error::diagnostics out = error::fail(errc::authentication, "authentication failed");
        out.server_text = error.message;
        return out;
    }
    case MONGOC_ERROR_STREAM:
        return network(error, evidence);
    case MONGOC_ERROR_SERVER_SELECTION: {
        if (error.code == MONGOC_ERROR_SERVER_SELECTION_BAD_WIRE_VERSION ||
            error.code == MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION)
            return error::fail(errc::unsupported, error.message);
        auto out = network(error, evidence);
        const auto& reason = evidence.failure.empty() ? evidence.earlier_failure : evidence.failure;
        if (evidence.no_primary) {
            out.text = "no primary: members of the replica set answered, but none is primary now";
            if (!evidence.failure.empty())
                out.text += " (" + evidence.failure + ")";
            return out;
        }
        // Servers of another set are dropped without a word, and then none is left to name.
        out.text = reason.empty() ? "no suitable server: none answered that belongs to the replica "
                                    "set and can be used (is replicaSet right?)"
                                  : "no suitable server (" + reason + ")";
        out.server_text = error.message;
        return out;
    }
    case MONGOC_ERROR_PROTOCOL:
        if (error.code == MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION)
            return error::fail(errc::unsupported, error.message);
        return error::fail(evidence.failure.empty() ? errc::protocol : errc::network,
                           evidence.failure.empty() ? std::string(error.message)
                                                    : evidence.failure);
    case MONGOC_ERROR_SERVER:
    case MONGOC_ERROR_QUERY: {
        error::diagnostics out = error::fail(errc::server, "the server refused the command");
        out.server_code = static_cast<int>(error.code);
        out.server_text = error.message;
        return out;
    }
    default:
        break;
    }
    if (!evidence.failure.empty())
        return network(error, evidence);
    error::diagnostics out = error::fail(errc::internal, "the driver refused the call");
    out.server_text = error.message;
    return out;
}

} // namespace cdc::mongodb::client
