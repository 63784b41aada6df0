// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/configuration.hpp"
#include "core/config/loader.hpp"

#include <filesystem>
#include <iosfwd>
#include <optional>

namespace cdc::app {

/// Loads a configuration and writes every mistake and warning to `err`, one line each, beginning
/// with the file and, where known, the line: `config.yaml:7: connectors.a.capture.mode: ...`.
/// Nothing when there is a mistake. Nothing that is written holds a secret.
std::optional<config::configuration> load_configuration(const std::filesystem::path& file,
                                                        const config::known_kinds& kinds,
                                                        std::ostream& err);

} // namespace cdc::app
