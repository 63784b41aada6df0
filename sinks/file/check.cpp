// SPDX-License-Identifier: Apache-2.0
#include "sinks/file/check.hpp"

#include "sinks/file/tail_repair.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace cdc::file {

namespace {

using error::errc;

/// Closes what it holds.
class descriptor {
  public:
    explicit descriptor(int fd) noexcept
        : fd_(fd) {}
    ~descriptor() {
        if (fd_ >= 0)
            ::close(fd_);
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    int get() const noexcept { return fd_; }

  private:
    int fd_;
};

error::diagnostics failure(const char* what, const std::filesystem::path& path, int code) {
    return error::fail(errc::io,
                       fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(code)));
}

/// The folder of the file, or the nearest one above it that exists.
std::filesystem::path existing_folder(const std::filesystem::path& path) {
    auto at = std::filesystem::absolute(path).parent_path();
    std::error_code ec;
    while (!std::filesystem::exists(at, ec) && at != at.parent_path())
        at = at.parent_path();
    return at;
}

error::result<void> check_folder(const std::filesystem::path& folder) {
    std::error_code ec;
    if (!std::filesystem::is_directory(folder, ec))
        return error::fail(errc::io, fmt::format("{} is not a folder", folder.string()));
    // Also tells about file systems that are mounted read-only.
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return failure("write to the folder", folder, errno);
    return {};
}

error::result<std::string> free_space(const std::filesystem::path& folder) {
    struct statvfs system{};
    if (::statvfs(folder.c_str(), &system) != 0)
        return failure("examine the file system of", folder, errno);
    const double bytes =
        static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize);
    if (bytes == 0)
        return error::fail(errc::io, fmt::format("the file system of {} is full", folder.string()));
    constexpr double gib = 1024.0 * 1024 * 1024;
    return bytes >= gib ? fmt::format("{:.1f} GiB free", bytes / gib)
                        : fmt::format("{:.1f} MiB free", bytes / 1024 / 1024);
}

/// The file exists.
error::result<void> check_existing(const std::filesystem::path& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0)
        return failure("examine", path, errno);
    if (!S_ISREG(found.st_mode))
        return error::fail(errc::configuration,
                           fmt::format("{} is not a regular file", path.string()));
    if (::access(path.c_str(), R_OK | W_OK) != 0)
        return failure("write to", path, errno);
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0)
        return failure("open", path, errno);
    int locked = 0;
    do
        locked = ::flock(file.get(), LOCK_SH | LOCK_NB);
    while (locked != 0 && errno == EINTR);
    if (locked != 0 && errno == EWOULDBLOCK)
        return error::fail(
            errc::state_locked,
            fmt::format("{} is being written by another sink or process", path.string()));
    if (locked != 0)
        return failure("lock", path, errno);
    const auto sound =
        sound_size(file.get(), static_cast<std::uint64_t>(found.st_size), path.string());
    if (!sound)
        return sound.error();
    return {};
}

} // namespace

error::result<std::string> check_file(const file_options& options) {
    const auto& path = options.path;
    const auto folder = existing_folder(path);
    if (auto r = check_folder(folder); !r)
        return r.error();
    std::error_code ec;
    const bool exists = std::filesystem::exists(path, ec);
    if (exists)
        if (auto r = check_existing(path); !r)
            return r.error();
    const auto space = free_space(folder);
    if (!space)
        return space.error();
    return fmt::format("{} can be {}, {}", path.string(), exists ? "appended to" : "created",
                       *space);
}

} // namespace cdc::file
