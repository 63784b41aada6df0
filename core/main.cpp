// SPDX-License-Identifier: Apache-2.0
#include "core/app/check.hpp"
#include "core/app/command_line.hpp"
#include "core/app/exit_code.hpp"
#include "core/app/load_configuration.hpp"
#include "core/app/registry.hpp"
#include "core/app/run.hpp"
#include "core/app/tail.hpp"
#include "core/config/option_printer.hpp"
#include "core/log/set_up.hpp"

#include <malloc.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace cdc;

/// What the log and the output of `check` must hide.
std::shared_ptr<const log::redactor> hiding(const std::vector<std::string>& secrets) {
    auto out = std::make_shared<log::redactor>();
    for (const auto& secret : secrets)
        out->hide(secret);
    return out;
}

int do_run(const app::run_command& command) {
    const app::registry known = app::make_registry();
    const auto configuration = app::load_configuration(command.config, known.kinds(), std::cerr);
    if (!configuration)
        return app::exit_code::configuration;
    const log::logger logger(log::make_backend(command.levels, hiding(configuration->secrets)),
                             "service");
    return app::run(*configuration, known, logger);
}

int do_check(const app::check_command& command) {
    const app::registry known = app::make_registry();
    const auto configuration = app::load_configuration(command.config, known.kinds(), std::cerr);
    if (!configuration)
        return app::exit_code::configuration;
    const auto hidden = hiding(configuration->secrets);
    const log::logger logger(log::make_backend(command.levels, hidden), "check");
    return app::check(*configuration, known, logger, hidden, std::cout);
}

int do_tail(const app::tail_command& command) {
    const app::registry known = app::make_registry();
    const auto options = app::tail_options(command, *known.source("mongodb")->options, std::cerr);
    if (!options)
        return app::exit_code::configuration;
    const log::logger logger(log::make_backend(command.levels, hiding({command.uri})), "tail");
    return app::tail(command, *options, known, logger);
}

int do_options(const app::options_command& command) {
    const auto format =
        command.markdown ? config::reference_format::markdown : config::reference_format::plain;
    std::cout << config::print_reference(app::make_registry().tables(), format);
    return app::exit_code::stopped;
}

} // namespace

int main(int argc, char** argv) {
    // Batches and replies are buffers of some hundred kilobytes to some megabytes that come and go
    // many times a second. By default glibc maps and unmaps each, and the page faults cost more
    // than the encoding.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
    try {
        const auto command =
            app::parse_command_line(argc, argv, std::getenv("MONGOCDC_LOG"), std::cout, std::cerr);
        if (const auto* run = std::get_if<app::run_command>(&command))
            return do_run(*run);
        if (const auto* check = std::get_if<app::check_command>(&command))
            return do_check(*check);
        if (const auto* tail = std::get_if<app::tail_command>(&command))
            return do_tail(*tail);
        if (const auto* options = std::get_if<app::options_command>(&command))
            return do_options(*options);
        return std::get<app::finished>(command).code;
    } catch (const std::exception& e) {
        std::cerr << "mongocdc: internal error: " << e.what() << '\n';
        return app::exit_code::internal;
    }
}
