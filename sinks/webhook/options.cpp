// SPDX-License-Identifier: Apache-2.0
#include "sinks/webhook/options.hpp"

#include "core/config/option_table.hpp"
#include "core/config/values.hpp"
#include "sinks/webhook/signature.hpp"

#include <algorithm>

namespace cdc::webhook {

namespace {

using config::option_type;

constexpr std::int64_t longest_ms = 2147483647;
constexpr std::size_t longest_token = 8192; // receivers refuse far shorter headers

std::string check_url(const std::string& url) {
    const auto parsed = parse_target_url(url);
    return parsed ? std::string{} : parsed.error().text;
}

std::string check_secret(const std::string& secret) {
    const auto key = parse_secret(secret);
    return key ? std::string{} : key.error().text;
}

/// RFC 6750: letters, digits and -._~+/ with = at the end.
std::string check_token(const std::string& token) {
    if (token.size() > longest_token)
        return "is longer than 8192 characters";
    const auto body = std::min(token.find_last_not_of('=') + 1, token.size());
    const bool sound = body > 0 && std::all_of(token.begin(), token.begin() + body, [](char c) {
                           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                  (c >= '0' && c <= '9') ||
                                  std::string_view("-._~+/").find(c) != std::string_view::npos;
                       });
    return sound ? "" : "is no bearer token; write it without the word Bearer";
}

void check_together(config::option_check& check) {
    const auto& of = check.of();
    if (of.given("tls.ca.file") && of.has("url") && !parse_target_url(of.text("url"))->tls)
        check.mistake("tls.ca.file", "has no meaning without https://");
    if (of.given("retry.cap.ms") && of.has("retry.cap.ms") && of.has("retry.first.ms") &&
        of.duration("retry.cap.ms") < of.duration("retry.first.ms"))
        check.mistake("retry.cap.ms", "is less than retry.first.ms");
}

} // namespace

const config::option_table& option_table() {
    static const config::option_table table(
        "webhook", "Sinks of `type: webhook`",
        {{.name = "url",
          .type = option_type::secret,
          .doc =
              "Where every record is sent with a POST of its own. Host and path are shown in the "
              "log, the query is not",
          .required = true,
          .check = check_url,
          .allowed_text = "http://... or https://..., without user information"},
         {.name = "secret",
          .type = option_type::secret,
          .doc = "Key that requests are signed with (Standard Webhooks, v1: HMAC-SHA256); without "
                 "it they are not signed",
          .check = check_secret,
          .allowed_text = "whsec_ and the base64 text of 24 to 64 bytes"},
         {.name = "bearer.token",
          .type = option_type::secret,
          .doc = "Sent as Authorization: Bearer ...",
          .check = check_token,
          .allowed_text = "letters, digits, - . _ ~ + / and = at the end"},
         {.name = "tls.ca.file",
          .type = option_type::path,
          .doc = "PEM file of the authorities that are trusted, in place of the system's",
          .allowed_text = "the path of a file"},
         {.name = "connect.timeout.ms",
          .type = option_type::duration_ms,
          .fallback = "5000",
          .doc = "Longest wait for the name's addresses, for a connection to one of them, and for "
                 "its TLS handshake, each",
          .min = 1,
          .max = longest_ms},
         {.name = "write.timeout.ms",
          .type = option_type::duration_ms,
          .fallback = "30000",
          .doc = "Longest time to hand one request over",
          .min = 1,
          .max = longest_ms},
         {.name = "answer.timeout.ms",
          .type = option_type::duration_ms,
          .fallback = "30000",
          .doc = "Longest wait for the answer, counted from the end of the request",
          .min = 1,
          .max = longest_ms},
         {.name = "retry.first.ms",
          .type = option_type::duration_ms,
          .fallback = "500",
          .doc =
              "Shortest wait before a record is sent again; the longest doubles with each failure",
          .min = 1,
          .max = longest_ms},
         {.name = "retry.cap.ms",
          .type = option_type::duration_ms,
          .fallback = "30000",
          .doc = "Longest wait before a record is sent again, unless the receiver asks for more",
          .min = 1,
          .max = longest_ms},
         {.name = "retry.after.cap.ms",
          .type = option_type::duration_ms,
          .fallback = "3600000",
          .doc = "Longest wait that the receiver's Retry-After is followed; more counts as this",
          .min = 0,
          .max = longest_ms},
         {.name = "schemas.enable",
          .type = option_type::boolean,
          .doc = "Overrides the connector's schemas.enable for this sink"}},
        check_together);
    return table;
}

webhook_options make_webhook_options(const config::values& values) {
    webhook_options out;
    out.url = *parse_target_url(values.text("url"));
    if (values.has("secret"))
        out.signing_key = *parse_secret(values.text("secret"));
    if (values.has("bearer.token"))
        out.bearer_token = values.text("bearer.token");
    if (values.has("tls.ca.file"))
        out.ca_file = values.path("tls.ca.file");
    out.connect_timeout = values.duration("connect.timeout.ms");
    out.write_timeout = values.duration("write.timeout.ms");
    out.answer_timeout = values.duration("answer.timeout.ms");
    out.retry.first = values.duration("retry.first.ms");
    out.retry.cap = values.duration("retry.cap.ms");
    out.retry_after_cap = values.duration("retry.after.cap.ms");
    return out;
}

} // namespace cdc::webhook
