// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/raw_value.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace cdc::config {

/// Looks a variable of the environment up.
using environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The process's own.
environment process_environment();

/// Replaces `${env:NAME}` and `${file:PATH}` (a regular file of at most 1 MiB, whole, less one last
/// line break; relative paths count from `folder`) in the texts of `raw`. What is put in is taken
/// as it is, without a second round. `$${` stands for `${`; a `$` before anything else is itself.
/// Gives the problem (naming the variable or the file, never contents), empty: fine.
std::string substitute(raw_value& raw, const std::filesystem::path& folder,
                       const environment& variables);

} // namespace cdc::config
