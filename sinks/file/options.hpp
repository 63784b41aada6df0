// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace cdc::config {
class option_table;
class values;
} // namespace cdc::config

namespace cdc::file {

/// When records are forced to the disk, which is when they are acknowledged.
enum class fsync_mode {
    batch,    ///< after every write
    interval, ///< at most `fsync_interval` after a write
    never,    ///< left to the operating system: acknowledged once written, lost with the machine
};

/// Everything the file sink can be told, already checked.
struct file_options {
    std::filesystem::path path; ///< of the file being written; absolute or relative to the process
    fsync_mode fsync = fsync_mode::batch;
    std::chrono::milliseconds fsync_interval{1000};
    std::uint64_t rotate_bytes = 0; ///< rotate before the file grows beyond this size; 0 = never
};

/// The rows of `type: file`. Lives as long as the program.
const config::option_table& option_table();

/// From checked values of that table.
file_options make_file_options(const config::values& values);

} // namespace cdc::file
