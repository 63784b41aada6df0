// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "sinks/file/options.hpp"

#include <string>

namespace cdc::file {

/// Whether a file sink could start with these options; creates, locks and changes nothing (but for
/// a shared lock of an instant). Gives what was found, for people. Blocks: it belongs on the
/// blocking pool.
///
/// Errors, each naming the path: configuration (not a regular file); io (it or the folder that
/// would hold it cannot be written, the disk is full); state_locked (somebody writes it);
/// state_invalid (its end does not look like a line of this sink).
error::result<std::string> check_file(const file_options& options);

} // namespace cdc::file
