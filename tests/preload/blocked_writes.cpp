// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: a disk that does not take what is written. While the file that
// MONGOCDC_BLOCK_WHILE names exists, write(2) to files whose path begins with MONGOCDC_BLOCK_PATH
// does not return.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

using write_function = ssize_t (*)(int, const void*, std::size_t);

bool is_meant(int fd, const char* path) {
    struct stat what{};
    if (::fstat(fd, &what) != 0 || !S_ISREG(what.st_mode))
        return false;
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    std::array<char, 4096> name;
    const ssize_t size = ::readlink(link.c_str(), name.data(), name.size());
    const std::size_t wanted = std::strlen(path);
    return size >= 0 && static_cast<std::size_t>(size) >= wanted &&
           std::memcmp(name.data(), path, wanted) == 0;
}

} // namespace

extern "C" ssize_t write(int fd, const void* from, std::size_t size) {
    static const auto system_write = reinterpret_cast<write_function>(::dlsym(RTLD_NEXT, "write"));
    static const char* const sign = std::getenv("MONGOCDC_BLOCK_WHILE");
    static const char* const path = std::getenv("MONGOCDC_BLOCK_PATH");
    if (sign != nullptr && path != nullptr && ::access(sign, F_OK) == 0 && is_meant(fd, path)) {
        const timespec moment{0, 10'000'000};
        while (::access(sign, F_OK) == 0)
            ::nanosleep(&moment, nullptr);
    }
    return system_write(fd, from, size);
}
