// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <cstdint>
#include <string>

namespace cdc::file {

/// Where a file of lines must be cut so that it ends with its last whole line: behind a half line
/// without newline, and behind lines at the very end that hold NUL bytes (blocks that a file system
/// had allocated but not written when the machine stopped). What is cut was never acknowledged.
///
/// Reads backwards in blocks, only as far as needed; blocks. `size`: of the file. `name`: for
/// messages. Returns the new size, equal to `size` when nothing is torn. Errors: io; state_invalid
/// when the end that would be cut does not look like a line of this sink, so that a wrong path does
/// not destroy somebody's file.
error::result<std::uint64_t> sound_size(int fd, std::uint64_t size, const std::string& name);

} // namespace cdc::file
