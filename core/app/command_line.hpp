// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/levels.hpp"

#include <filesystem>
#include <iosfwd>
#include <variant>

namespace cdc::app {

/// `mongocdc run CONFIG`
struct run_command {
    std::filesystem::path config;
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

/// Reads the command line. `--help` and `--version` go to `out`, complaints to `err`.
/// `log_variable` is the value of MONGOCDC_LOG (nullptr: not set), which `--log-level` overrides.
std::variant<run_command, options_command, finished>
parse_command_line(int argc, const char* const* argv, const char* log_variable, std::ostream& out,
                   std::ostream& err);

} // namespace cdc::app
