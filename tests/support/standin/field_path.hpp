// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/view.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cdc::test::standin {

/// "a.b.1" in parts.
std::vector<std::string> split_path(std::string_view path);

/// Walks `doc` along `path` as queries do: through arrays on the way, and at the end first into an
/// array's elements and then to the array itself. `visit` gets each value met, nullptr where the
/// path ends in nothing; it returns true to stop. Tells whether it was stopped.
bool walk_path(bson::view doc, std::span<const std::string> path,
               const std::function<bool(const bson::cursor*)>& visit);

} // namespace cdc::test::standin
