// SPDX-License-Identifier: Apache-2.0
#include "core/offset/process_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace cdc::offset {

namespace {

std::string holder_of(int fd) {
    std::array<char, 32> text{};
    const auto n = ::pread(fd, text.data(), text.size(), 0);
    std::string pid;
    for (ssize_t i = 0; i < n && text[static_cast<std::size_t>(i)] >= '0' &&
                        text[static_cast<std::size_t>(i)] <= '9';
         ++i)
        pid += text[static_cast<std::size_t>(i)];
    return pid.empty() ? "another process" : "process " + pid;
}

/// `how`: LOCK_EX or LOCK_SH. Never waits.
error::result<void> lock(int fd, int how, const std::filesystem::path& file) {
    int locked = 0;
    do
        locked = ::flock(fd, how | LOCK_NB);
    while (locked != 0 && errno == EINTR);
    if (locked == 0)
        return {};
    if (errno == EWOULDBLOCK)
        return error::fail(error::errc::state_locked,
                           fmt::format("{} is held by {}", file.string(), holder_of(fd)));
    return error::fail(error::errc::io,
                       fmt::format("cannot lock {}: {}", file.string(), std::strerror(errno)));
}

} // namespace

error::result<process_lock> process_lock::acquire(const std::filesystem::path& file) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return error::fail(error::errc::io, fmt::format("cannot create lock file {}: {}",
                                                        file.string(), std::strerror(errno)));
    process_lock out(fd);
    if (auto locked = lock(fd, LOCK_EX, file); !locked)
        return locked.error();
    // For people and for the message above; the lock does not depend on it.
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0)
        return error::fail(error::errc::io, fmt::format("cannot write lock file {}: {}",
                                                        file.string(), std::strerror(errno)));
    return out;
}

error::result<void> process_lock::look(const std::filesystem::path& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return {};
    if (fd < 0)
        return error::fail(error::errc::io, fmt::format("cannot open lock file {}: {}",
                                                        file.string(), std::strerror(errno)));
    const process_lock held(fd); // closes it
    return lock(fd, LOCK_SH, file);
}

process_lock::process_lock(process_lock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

process_lock::~process_lock() {
    if (fd_ >= 0)
        ::close(fd_);
}

} // namespace cdc::offset
