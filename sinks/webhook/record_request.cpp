// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/record_request.hpp"

#include "sinks/webhook/message_id.hpp"
#include "sinks/webhook/percent_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cdc::webhook {

namespace {

void set(http_request& request, std::string_view name, std::string value) {
    const auto found = std::find_if(request.headers.begin(), request.headers.end(),
                                    [&](const auto& header) { return header.first == name; });
    if (found == request.headers.end())
        request.headers.emplace_back(name, std::move(value));
    else
        found->second = std::move(value);
}

} // namespace

record_request::record_request(std::string connector, std::string sink,
                               std::optional<signer> signing, std::string bearer_token)
    : connector_(std::move(connector))
    , sink_(std::move(sink))
    , signing_(std::move(signing))
    , authorization_(bearer_token.empty() ? "" : "Bearer " + bearer_token) {}

std::string record_request::id_of(const event::record& r) const {
    return message_id(connector_, sink_, r.topic, r.token, r.index);
}

error::result<http_request> record_request::make(const event::record& r,
                                                 const std::string& id) const {
    http_request out;
    auto key = percent_encode(r.key);
    if (key.size() > longest_key)
        return error::fail(error::errc::unsupported,
                           fmt::format("a record of topic {} ({}) has a key of {} bytes when "
                                       "percent-encoded; a header carries {}",
                                       r.topic, id, key.size(), longest_key));
    const char op = r.value ? static_cast<char>(r.op) : static_cast<char>(event::operation::remove);
    out.headers.reserve(8);
    set(out, "content-type", "application/json");
    set(out, "x-mongocdc-topic", std::string(r.topic));
    set(out, "x-mongocdc-key", std::move(key));
    set(out, "x-mongocdc-op", std::string(1, op));
    set(out, "webhook-id", id);
    if (!authorization_.empty())
        set(out, "authorization", authorization_);
    out.body = r.value.value_or("null");
    return out;
}

void record_request::stamp(http_request& request, const std::string& id,
                           std::int64_t timestamp) const {
    set(request, "webhook-timestamp", std::to_string(timestamp));
    if (signing_)
        set(request, "webhook-signature", signing_->sign(id, timestamp, request.body));
}

} // namespace cdc::webhook
