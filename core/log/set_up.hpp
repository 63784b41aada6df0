// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/log/levels.hpp"
#include "core/log/logger.hpp"
#include "core/log/redactor.hpp"

#include <cstdio>
#include <memory>

namespace cdc::log {

/// A backend that writes to `to` (standard error), one line a message, UTC:
///
///     2026-01-31T12:00:00.123Z warn mongodb.stream: text
///
/// Control characters in the text are escaped, so that text from elsewhere cannot make lines of its
/// own; secrets that `hidden` knows are replaced. Every line is written at once. `to` must outlive
/// the backend.
std::shared_ptr<backend> make_backend(levels which, std::shared_ptr<const redactor> hidden,
                                      std::FILE* to = stderr);

} // namespace cdc::log
