// SPDX-License-Identifier: Apache-2.0
#include "sinks/file/line_writer.hpp"

#include "sinks/file/line_format.hpp"

#include <string_view>
#include <utility>

namespace cdc::file {

namespace {

/// Larger buffers gain nothing, smaller ones cost system calls.
constexpr std::size_t write_size = 1024 * 1024;

} // namespace

line_writer::line_writer(file_options options, log::logger logger)
    : options_(std::move(options))
    , logger_(std::move(logger)) {}

error::result<void> line_writer::open() {
    auto opened = append_file::open(options_.path);
    if (!opened)
        return opened.error();
    auto cut = (*opened)->repair();
    if (!cut)
        return cut.error();
    if (*cut > 0)
        logger_.warn("cut {} bytes of a torn line from the end of {}; its record is written "
                     "again unless it had been acknowledged",
                     *cut, options_.path.string());
    auto names = rotation::of(options_.path);
    if (!names)
        return names.error();
    rotation_ = std::move(*names);
    file_ = std::move(*opened);
    return {};
}

error::result<void> line_writer::reopen_if_moved() {
    if (file_->still_named())
        return {};
    logger_.warn("{} was moved or removed by somebody else; a new file is begun",
                 options_.path.string());
    if (options_.fsync != fsync_mode::never)
        if (auto r = file_->sync(); !r)
            return r;
    auto opened = append_file::open(options_.path);
    if (!opened)
        return opened.error();
    if (auto cut = (*opened)->repair(); !cut)
        return cut.error();
    file_ = std::move(*opened);
    return {};
}

error::result<void> line_writer::rotate() {
    auto next = rotation_->rotate(*file_);
    if (!next)
        return next.error();
    logger_.info("{} reached {} bytes and is now {}", options_.path.string(), file_->size(),
                 rotated_name(options_.path, rotation_->next() - 1).string());
    file_ = std::move(*next);
    return {};
}

error::result<void>
line_writer::write_lines(const std::vector<std::shared_ptr<const event::record_batch>>& batches) {
    for (const auto& batch : batches) {
        for (std::size_t i = 0; i < batch->size(); ++i) {
            const std::size_t before = buffer_.size();
            append_line(buffer_, (*batch)[i]);
            const bool full = options_.rotate_bytes > 0 && file_->size() + before > 0 &&
                              file_->size() + buffer_.size() > options_.rotate_bytes;
            if (full) {
                if (auto r = file_->append(std::string_view(buffer_).substr(0, before)); !r)
                    return r;
                if (auto r = rotate(); !r)
                    return r;
                buffer_.erase(0, before);
            }
            if (buffer_.size() >= write_size) {
                if (auto r = file_->append(buffer_); !r)
                    return r;
                buffer_.clear();
            }
        }
    }
    auto r = file_->append(buffer_);
    buffer_.clear();
    return r;
}

error::result<void>
line_writer::write(const std::vector<std::shared_ptr<const event::record_batch>>& batches,
                   bool sync) {
    if (auto r = reopen_if_moved(); !r)
        return r;
    const auto at_begin = file_;
    const std::uint64_t size = file_->size();
    buffer_.clear();
    auto written = write_lines(batches);
    if (!written) {
        if (file_ == at_begin)
            file_->cut_back(size);
        return written;
    }
    return sync ? file_->sync() : written;
}

} // namespace cdc::file
