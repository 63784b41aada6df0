// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "sources/mongodb/client/client.hpp"

#include <string>
#include <string_view>

struct _mongoc_uri_t;

namespace cdc::mongodb::client {

/// Parses and completes the connection string: options that this program decides are forced
/// (serverSelectionTryOnce, no retries inside libmongoc, time limits, appName), user and password
/// of the options are put in where the string has none. The result is owned by the caller
/// (mongoc_uri_destroy). Errors: configuration; the text never shows any part of the string.
error::result<_mongoc_uri_t*> make_uri(const client_options& options);

/// The same deployment with the hosts given ("h1:27017,h2:27017") instead of an SRV name.
error::result<_mongoc_uri_t*> with_hosts(const _mongoc_uri_t* uri, const std::string& hosts);

/// True when a client with these options talks to the one host of its URI, whatever its role.
bool stays_on_host(const client_options& options);

/// True for mechanisms whose blocking calls do not go through streams.
bool needs_thread(const _mongoc_uri_t* uri);

} // namespace cdc::mongodb::client
