// SPDX-License-Identifier: Apache-2.0
// Owning pointers for libmongoc's handles. Included by this folder's .cpp files only.
#pragma once

#include <mongoc/mongoc.h>

#include <memory>

namespace cdc::mongodb::client {

struct handle_deleter {
    void operator()(mongoc_uri_t* p) const noexcept { mongoc_uri_destroy(p); }
    void operator()(mongoc_client_session_t* p) const noexcept { mongoc_client_session_destroy(p); }
    void operator()(mongoc_server_description_t* p) const noexcept {
        mongoc_server_description_destroy(p);
    }
    void operator()(mongoc_client_t* p) const noexcept { mongoc_client_destroy(p); }
};

using uri_handle = std::unique_ptr<mongoc_uri_t, handle_deleter>;
using session_handle = std::unique_ptr<mongoc_client_session_t, handle_deleter>;
using server_description_handle = std::unique_ptr<mongoc_server_description_t, handle_deleter>;
using client_handle = std::unique_ptr<mongoc_client_t, handle_deleter>;

} // namespace cdc::mongodb::client
