// SPDX-License-Identifier: Apache-2.0
#include "sinks/file/tail_repair.hpp"

#include "sinks/file/line_format.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

namespace cdc::file {

namespace {

constexpr std::size_t block_size = 64 * 1024;

/// Fills `buffer` from `at`; the bytes are known to be there.
error::result<void> read_at(int fd, std::uint64_t at, char* buffer, std::size_t size,
                            const std::string& name) {
    while (size > 0) {
        const ssize_t n = ::pread(fd, buffer, size, static_cast<off_t>(at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error::fail(error::errc::io,
                               fmt::format("cannot read {}: {}", name,
                                           n < 0 ? std::strerror(errno) : "it became shorter"));
        buffer += n;
        at += static_cast<std::uint64_t>(n);
        size -= static_cast<std::size_t>(n);
    }
    return {};
}

struct last_line {
    std::uint64_t begin = 0; ///< behind the newline before it, or 0
    bool holds_nul = false;
};

/// The line that ends at `end` (its own newline, if it has one, lies before `end`).
error::result<last_line> line_before(int fd, std::uint64_t end, const std::string& name) {
    std::vector<char> block(block_size);
    last_line out;
    bool own_newline = true; // the very last byte may be the line's own newline
    while (end > 0) {
        const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(end, block_size));
        auto r = read_at(fd, end - n, block.data(), n, name);
        if (!r)
            return r.error();
        std::string_view bytes(block.data(), n);
        if (own_newline && bytes.back() == '\n')
            bytes.remove_suffix(1);
        own_newline = false;
        const std::size_t newline = bytes.rfind('\n');
        const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
        if (bytes.substr(begin).find('\0') != std::string_view::npos)
            out.holds_nul = true;
        if (newline != std::string_view::npos) {
            out.begin = end - n + begin;
            return out;
        }
        end -= n;
    }
    return out;
}

/// Whether the bytes at `begin` can be the beginning of a line of ours, or nothing written at all.
error::result<bool> ours(int fd, std::uint64_t begin, std::uint64_t end, const std::string& name) {
    char head[line_begin.size()];
    const std::size_t n =
        static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, sizeof head));
    auto r = read_at(fd, begin, head, n, name);
    if (!r)
        return r.error();
    std::string_view text(head, n);
    text = text.substr(0, text.find('\0'));
    return text == line_begin.substr(0, text.size());
}

} // namespace

error::result<std::uint64_t> sound_size(int fd, std::uint64_t size, const std::string& name) {
    std::uint64_t end = size;
    while (end > 0) {
        char last = 0;
        auto r = read_at(fd, end - 1, &last, 1, name);
        if (!r)
            return r.error();
        auto line = line_before(fd, end, name);
        if (!line)
            return line.error();
        if (last == '\n' && !line->holds_nul)
            break;
        auto known = ours(fd, line->begin, end, name);
        if (!known)
            return known.error();
        if (!*known)
            return error::fail(error::errc::state_invalid,
                               fmt::format("{} does not end with a line of this sink; it is not "
                                           "touched: choose another path, or repair its end",
                                           name));
        end = line->begin;
    }
    return end;
}

} // namespace cdc::file
