// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "sinks/file/append_file.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace cdc::file {

/// "events.jsonl", 7 -> "events-000007.jsonl".
std::filesystem::path rotated_name(const std::filesystem::path& path, std::uint64_t number);

/// Renames files that are full: always to a number behind all that are there, so that names sort as
/// they were written, and never over an existing file.
class rotation {
  public:
    /// Looks at the folder of `path` once; blocks. Errors: io.
    static error::result<rotation> of(std::filesystem::path path);

    /// Syncs and renames `full` (whose path is this one), creates a new file under its path and
    /// makes both names durable. Blocks. The caller lets go of `full` afterwards. Errors: io;
    /// state_locked when somebody took the path.
    error::result<std::shared_ptr<append_file>> rotate(append_file& full);

    /// The number that the next rotation tries first.
    std::uint64_t next() const noexcept { return next_; }

  private:
    explicit rotation(std::filesystem::path path)
        : path_(std::move(path)) {}
    std::filesystem::path path_;
    std::uint64_t next_ = 1;
};

} // namespace cdc::file
