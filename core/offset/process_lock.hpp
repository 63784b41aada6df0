// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"

#include <filesystem>

namespace cdc::offset {

/// "Only one at a time" over a lock file: flock(2) on it, so that the lock goes with the process
/// however it ends, and holds within one process too. The file stays behind (removing it would let
/// two holders in) and names its holder's process id.
class process_lock {
  public:
    /// Blocks for the file system only. Errors: state_locked when somebody holds it (the text names
    /// the process id when it is known), io.
    static error::result<process_lock> acquire(const std::filesystem::path& file);

    /// Whether somebody holds it, without creating or keeping anything; a file that is not there is
    /// held by nobody. Takes a shared lock for an instant, so an `acquire` at that very moment may
    /// be refused. Errors: as `acquire`.
    static error::result<void> look(const std::filesystem::path& file);

    process_lock(process_lock&& other) noexcept;
    process_lock& operator=(process_lock&&) = delete;
    ~process_lock();

  private:
    explicit process_lock(int fd) noexcept
        : fd_(fd) {}
    int fd_;
};

} // namespace cdc::offset
