// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error/result.hpp"
#include "core/event/record.hpp"
#include "core/log/logger.hpp"
#include "sinks/file/append_file.hpp"
#include "sinks/file/options.hpp"
#include "sinks/file/rotation.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cdc::file {

/// Writes records as lines to the current file and begins the next one when it is full; the
/// blocking half of the file sink. Every call blocks and belongs on the blocking pool, one at a
/// time.
class line_writer {
  public:
    line_writer(file_options options, log::logger logger);

    /// Opens the file and cuts what a crash left at its end. Errors: see append_file and
    /// tail_repair.
    error::result<void> open();

    /// Appends all records, in as few system calls as possible, and with `sync` makes them durable.
    /// On an error what this call wrote is cut away again where that is possible. Errors: io.
    error::result<void>
    write(const std::vector<std::shared_ptr<const event::record_batch>>& batches, bool sync);

    /// The file that everything written and not yet made durable is in.
    const std::shared_ptr<append_file>& current() const noexcept { return file_; }

    /// Closes the file and gives up its lock once nobody else holds it.
    void close() noexcept { file_.reset(); }

  private:
    error::result<void>
    write_lines(const std::vector<std::shared_ptr<const event::record_batch>>& batches);
    error::result<void> rotate();
    error::result<void> reopen_if_moved();

    file_options options_;
    log::logger logger_;
    std::shared_ptr<append_file> file_;
    std::optional<rotation> rotation_;
    std::string buffer_;
};

} // namespace cdc::file
