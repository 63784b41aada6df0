// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/pipeline/retry_policy.hpp"
#include "sinks/webhook/target_url.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cdc::config {
class option_table;
class values;
} // namespace cdc::config

namespace cdc::webhook {

/// Everything the webhook sink can be told, already checked.
struct webhook_options {
    target_url url;
    std::vector<std::uint8_t> signing_key; ///< empty: requests are not signed
    std::string bearer_token;              ///< empty: no Authorization header
    std::filesystem::path ca_file;         ///< PEM; empty: the system's authorities
    std::chrono::milliseconds connect_timeout{5000};
    std::chrono::milliseconds write_timeout{30000};
    std::chrono::milliseconds answer_timeout{30000};
    pipeline::retry_policy::limits retry;
    std::chrono::milliseconds retry_after_cap{3600000};
};

/// The rows of `type: webhook`. Lives as long as the program.
const config::option_table& option_table();

/// From checked values of that table.
webhook_options make_webhook_options(const config::values& values);

} // namespace cdc::webhook
