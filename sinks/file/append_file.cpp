// SPDX-License-Identifier: Apache-2.0
#include "sinks/file/append_file.hpp"

#include "sinks/file/tail_repair.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace cdc::file {

namespace {

using error::errc;

std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

error::result<void> create_folders(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> missing;
    std::error_code ec;
    for (auto at = folder; !std::filesystem::exists(at, ec); at = folder_of(at)) {
        if (ec)
            return error::fail(
                errc::io, fmt::format("cannot use the folder {}: {}", at.string(), ec.message()));
        missing.push_back(at);
        if (at == folder_of(at))
            break;
    }
    for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
        if (::mkdir(it->c_str(), 0755) != 0 && errno != EEXIST)
            return error::fail(errc::io, fmt::format("cannot create the folder {}: {}",
                                                     it->string(), std::strerror(errno)));
        if (auto r = sync_folder(folder_of(*it)); !r)
            return r;
    }
    return {};
}

} // namespace

error::result<void> sync_folder(const std::filesystem::path& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = fd < 0 ? errno : 0;
    if (fd >= 0) {
        // Some file systems cannot sync a folder and need not (EINVAL).
        if (::fsync(fd) != 0 && errno != EINVAL)
            code = errno;
        ::close(fd);
    }
    if (code != 0)
        return error::fail(errc::io, fmt::format("cannot sync the folder {}: {}", folder.string(),
                                                 std::strerror(code)));
    return {};
}

error::diagnostics append_file::failure(const char* what, int code) const {
    return error::fail(errc::io,
                       fmt::format("cannot {} {}: {}", what, path_.string(), std::strerror(code)));
}

error::result<std::shared_ptr<append_file>> append_file::open(const std::filesystem::path& path) {
    return open_with(path, O_CREAT);
}

error::result<std::shared_ptr<append_file>> append_file::create(const std::filesystem::path& path) {
    return open_with(path, O_CREAT | O_EXCL);
}

error::result<std::shared_ptr<append_file>>
append_file::open_with(const std::filesystem::path& path, int flags) {
    if (path.native().find('\0') != std::string::npos)
        return error::fail(errc::configuration,
                           fmt::format("the path {}… holds a NUL byte", path.c_str()));
    if (path.empty() || !path.has_filename())
        return error::fail(errc::configuration,
                           fmt::format("the path '{}' does not name a file", path.string()));
    if (auto r = create_folders(folder_of(path)); !r)
        return r.error();

    // Once more when the file was renamed between opening and locking.
    for (int attempt = 0;; ++attempt) {
        const int fd =
            ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | flags, 0644);
        if (fd < 0) {
            if (errno == EEXIST)
                return error::fail(errc::state_locked,
                                   fmt::format("{} was created by somebody else", path.string()));
            return error::fail(
                errc::io, fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
        }
        std::shared_ptr<append_file> out(new append_file(fd, path));
        struct stat opened{};
        if (::fstat(fd, &opened) != 0)
            return out->failure("examine", errno);
        if (!S_ISREG(opened.st_mode))
            return error::fail(errc::configuration,
                               fmt::format("{} is not a regular file", path.string()));
        int locked = 0;
        do
            locked = ::flock(fd, LOCK_EX | LOCK_NB);
        while (locked != 0 && errno == EINTR);
        if (locked != 0) {
            if (errno == EWOULDBLOCK)
                return error::fail(
                    errc::state_locked,
                    fmt::format("{} is being written by another sink or process", path.string()));
            return out->failure("lock", errno);
        }
        if (!out->still_named()) {
            if (attempt < 3)
                continue;
            return error::fail(errc::state_locked,
                               fmt::format("{} keeps being replaced by somebody", path.string()));
        }
        if (::fstat(fd, &opened) != 0)
            return out->failure("examine", errno);
        out->size_ = static_cast<std::uint64_t>(opened.st_size);
        if (auto r = sync_folder(folder_of(path)); !r)
            return r.error();
        return out;
    }
}

append_file::~append_file() {
    ::close(fd_);
}

error::result<std::uint64_t> append_file::repair() {
    auto sound = sound_size(fd_, size_, path_.string());
    if (!sound)
        return sound.error();
    const std::uint64_t cut = size_ - *sound;
    if (cut > 0) {
        if (::ftruncate(fd_, static_cast<off_t>(*sound)) != 0)
            return failure("cut the torn end of", errno);
        size_ = *sound;
        if (auto r = sync(); !r)
            return r.error();
    }
    return cut;
}

error::result<void> append_file::append(std::string_view bytes) {
    std::uint64_t written = 0;
    while (written < bytes.size()) {
        const ssize_t n = ::write(fd_, bytes.data() + written, bytes.size() - written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            const int code = n < 0 ? errno : EIO;
            auto d = failure("write to", code);
            if (written > 0 && ::ftruncate(fd_, static_cast<off_t>(size_)) != 0)
                d.text += fmt::format("; a part of {} bytes stays at its end until the next start",
                                      written);
            return d;
        }
        written += static_cast<std::uint64_t>(n);
    }
    size_ += written;
    return {};
}

void append_file::cut_back(std::uint64_t size) noexcept {
    if (size < size_ && ::ftruncate(fd_, static_cast<off_t>(size)) == 0)
        size_ = size;
}

bool append_file::still_named() const noexcept {
    struct stat mine{};
    struct stat named{};
    return ::fstat(fd_, &mine) == 0 && ::stat(path_.c_str(), &named) == 0 &&
           mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

error::result<void> append_file::sync() {
    int r = 0;
    do
        r = ::fdatasync(fd_);
    while (r != 0 && errno == EINTR);
    if (r != 0)
        return failure("sync", errno);
    return {};
}

} // namespace cdc::file