// SPDX-License-Identifier: Apache-2.0
#include "core/app/load_configuration.hpp"

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <utility>

namespace cdc::app {

namespace {

std::string place(const std::filesystem::path& file, const config::mistake& m) {
    return m.line == 0 ? file.string() : fmt::format("{}:{}", file.string(), m.line);
}

} // namespace

std::optional<config::configuration> load_configuration(const std::filesystem::path& file,
                                                        const config::known_kinds& kinds,
                                                        std::ostream& err) {
    auto loaded = config::load(file, kinds);
    for (const auto& warning : loaded.found.warnings())
        err << place(file, warning) << ": warning: " << warning.text() << '\n';
    for (const auto& mistake : loaded.found.mistakes())
        err << place(file, mistake) << ": " << mistake.text() << '\n';
    if (loaded.found.more() > 0)
        err << file.string() << ": and " << loaded.found.more() << " more mistakes\n";
    err.flush();
    return std::move(loaded.result);
}

} // namespace cdc::app
