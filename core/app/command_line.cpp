// SPDX-License-Identifier: Apache-2.0
#include "core/app/command_line.hpp"

#include "core/app/exit_code.hpp"
#include "core/app/version.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace cdc::app {

namespace {

constexpr const char* footer = R"(Exit codes:
  0  stopped cleanly, or did what was asked
  1  internal error
  2  the command line or the configuration is wrong
  3  every connector failed

Environment:
  MONGOCDC_LOG  as --log-level, which overrides it)";

constexpr const char* level_help =
    "What to log: trace, debug, info, warn or error; single components by name: "
    "info,mongodb=debug";

} // namespace

std::variant<run_command, options_command, finished>
parse_command_line(int argc, const char* const* argv, const char* log_variable, std::ostream& out,
                   std::ostream& err) {
    CLI::App app("Watches MongoDB replica sets and delivers their changes as events.", "mongocdc");
    app.set_version_flag("--version", "mongocdc " + std::string(version()),
                         "Print the version and end");
    app.footer(footer);
    app.require_subcommand(1);

    std::string config;
    std::string level = "info";
    bool markdown = false;
    auto* run = app.add_subcommand("run", "Run the connectors of a configuration file until "
                                          "SIGTERM or SIGINT");
    run->add_option("CONFIG", config, "The configuration file (YAML or JSON)")->required();
    auto* level_option = run->add_option("--log-level", level, level_help);
    run->footer(footer);
    auto* options = app.add_subcommand("options", "Print the reference of all options");
    options->add_flag("--markdown", markdown, "As Markdown tables");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return finished{app.exit(e, out, err) == 0 ? exit_code::stopped : exit_code::configuration};
    }

    if (options->parsed())
        return options_command{markdown};
    const bool from_variable = level_option->count() == 0 && log_variable && *log_variable;
    const auto levels = log::levels::parse(from_variable ? log_variable : level.c_str());
    if (!levels) {
        err << (from_variable ? "MONGOCDC_LOG" : "--log-level")
            << ": is not a level; allowed: trace, debug, info, warn, error, also "
               "level,component=level,...\n";
        return finished{exit_code::configuration};
    }
    return run_command{config, *levels};
}

} // namespace cdc::app
