// SPDX-License-Identifier: Apache-2.0
#include "sinks/file/rotation.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace cdc::file {

namespace {

/// The number in a name of a rotated file of `path`; 0 for other names.
std::uint64_t number_of(std::string_view name, const std::string& stem,
                        const std::string& extension) {
    if (name.size() < stem.size() + 1 + 6 + extension.size() || !name.starts_with(stem) ||
        !name.ends_with(extension) || name[stem.size()] != '-')
        return 0;
    const auto digits =
        name.substr(stem.size() + 1, name.size() - stem.size() - 1 - extension.size());
    std::uint64_t out = 0;
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return ec == std::errc{} && end == digits.data() + digits.size() ? out : 0;
}

/// Renames, but never over an existing name. Returns 0 or an errno.
int rename_to_new(const char* from, const char* to) {
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    // A file system that cannot do both in one step.
    struct stat there{};
    if (::lstat(to, &there) == 0)
        return EEXIST;
    return ::rename(from, to) == 0 ? 0 : errno;
}

} // namespace

std::filesystem::path rotated_name(const std::filesystem::path& path, std::uint64_t number) {
    return path.parent_path() /
           fmt::format("{}-{:06}{}", path.stem().string(), number, path.extension().string());
}

error::result<rotation> rotation::of(std::filesystem::path path) {
    rotation out(std::move(path));
    const auto folder =
        out.path_.has_parent_path() ? out.path_.parent_path() : std::filesystem::path(".");
    const std::string stem = out.path_.stem().string();
    const std::string extension = out.path_.extension().string();
    std::error_code ec;
    for (std::filesystem::directory_iterator it(folder, ec), end; !ec && it != end;
         it.increment(ec))
        out.next_ =
            std::max(out.next_, number_of(it->path().filename().string(), stem, extension) + 1);
    if (ec)
        return error::fail(error::errc::io, fmt::format("cannot list the folder {}: {}",
                                                        folder.string(), ec.message()));
    return out;
}

error::result<std::shared_ptr<append_file>> rotation::rotate(append_file& full) {
    if (auto r = full.sync(); !r)
        return r.error();
    for (;; ++next_) {
        const auto target = rotated_name(path_, next_);
        const int code = rename_to_new(path_.c_str(), target.c_str());
        if (code == 0)
            break;
        if (code != EEXIST)
            return error::fail(error::errc::io,
                               fmt::format("cannot rename {} to {}: {}", path_.string(),
                                           target.string(), std::strerror(code)));
    }
    ++next_;
    return append_file::create(path_);
}

} // namespace cdc::file
