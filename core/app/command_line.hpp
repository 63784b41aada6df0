// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/levels.hpp"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cdc::app {

/// `mongocdc run CONFIG`
struct run_command {
    std::filesystem::path config;
    log::levels levels;
};

/// `mongocdc check CONFIG`
struct check_command {
    std::filesystem::path config;
    log::levels levels;
};

/// `mongocdc tail URI`
struct tail_command {
    std::string uri; ///< a secret
    /// Options of `source: mongodb` that flags stand for (name, text as in a file); not checked.
    std::vector<std::pair<std::string, std::string>> options;
    bool full = false;                  ///< the value with its schema, not the payload alone
    bool pretty = false;                ///< indented, over several lines
    std::optional<std::uint64_t> limit; ///< ends behind so many events
    log::levels levels;
};

/// `mongocdc options`
struct options_command {
    bool markdown = false;
};

/// The process is done with this exit code; what there was to say was written.
struct finished {
    int code;
};

using any_command =
    std::variant<run_command, check_command, tail_command, options_command, finished>;

/// Reads the command line. `--help` and `--version` go to `out`, complaints to `err`; no complaint
/// shows the password of a connection string. `log_variable` is the value of MONGOCDC_LOG (nullptr:
/// not set), which `--log-level` overrides.
any_command parse_command_line(int argc, const char* const* argv, const char* log_variable,
                               std::ostream& out, std::ostream& err);

} // namespace cdc::app
