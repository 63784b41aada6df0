// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace cdc::file {

/// One open, locked file of lines that only grows. Every call blocks and belongs on the blocking
/// pool; `sync` may run at the same time as `append`, nothing else may overlap. The lock (flock) is
/// on the file itself and goes with the process however it ends.
class append_file {
  public:
    /// Opens or creates `path`. A missing folder is created. The file must be a regular file that
    /// nobody else holds. The entry in the folder is durable afterwards.
    /// Errors: configuration (not a path, not a regular file), state_locked, io; each names the
    /// path.
    static error::result<std::shared_ptr<append_file>> open(const std::filesystem::path& path);

    /// As `open`, but the file must not exist yet (state_locked otherwise).
    static error::result<std::shared_ptr<append_file>> create(const std::filesystem::path& path);

    ~append_file();
    append_file(const append_file&) = delete;
    append_file& operator=(const append_file&) = delete;

    /// Cuts a torn end (see tail_repair.hpp) and makes the cut durable; returns the bytes cut.
    error::result<std::uint64_t> repair();

    /// Appends all of `bytes`. On an error the file is cut back to its size before the call, if
    /// that is possible. Errors: io with path and the system's text.
    error::result<void> append(std::string_view bytes);

    /// fdatasync. After an error nothing is known about what was written since the last success.
    error::result<void> sync();

    /// Cuts back to an earlier `size`, if that is possible: for what will be written again anyway.
    void cut_back(std::uint64_t size) noexcept;

    /// Whether the path still names this file, which somebody may have moved or removed.
    bool still_named() const noexcept;

    std::uint64_t size() const noexcept { return size_; }
    const std::filesystem::path& path() const noexcept { return path_; }

  private:
    append_file(int fd, std::filesystem::path path) noexcept
        : fd_(fd)
        , path_(std::move(path)) {}
    static error::result<std::shared_ptr<append_file>> open_with(const std::filesystem::path& path,
                                                                 int flags);
    error::diagnostics failure(const char* what, int code) const;

    int fd_;
    std::filesystem::path path_;
    std::uint64_t size_ = 0;
};

/// Makes entries of `folder` (created, renamed) durable. Errors: io.
error::result<void> sync_folder(const std::filesystem::path& folder);

} // namespace cdc::file
