// SPDX-License-Identifier: Apache-2.0
#include "sinks/file/options.hpp"

#include "core/config/option_table.hpp"
#include "core/config/values.hpp"

#include <string>
#include <system_error>

namespace cdc::file {

namespace {

using config::option_type;

std::string check_path(const std::string& path) {
    std::error_code ec;
    if (path.ends_with('/') || std::filesystem::is_directory(path, ec))
        return "is a folder, not a file";
    return {};
}

void check_interval(config::option_check& check) {
    const auto& of = check.of();
    if (of.given("fsync.interval.ms") && of.has("fsync") && of.text("fsync") != "interval")
        check.mistake("fsync.interval.ms", "has no meaning without fsync: interval");
}

} // namespace

const config::option_table& option_table() {
    static const config::option_table table(
        "file", "Sinks of `type: file`",
        {{.name = "path",
          .type = option_type::path,
          .doc = "File to append to, one record a line; missing folders are made",
          .required = true,
          .check = check_path,
          .allowed_text = "the path of a file",
          .exclusive = true},
         {.name = "fsync",
          .type = option_type::enumeration,
          .fallback = "batch",
          .doc = "When records are forced to the disk, and with that acknowledged: after every "
                 "write, now and then, or left to the operating system (a crash of the machine can "
                 "then lose records)",
          .allowed = {"batch", "interval", "never"}},
         {.name = "fsync.interval.ms",
          .type = option_type::duration_ms,
          .fallback = "1000",
          .doc = "Longest time between a write and its fsync, with fsync: interval",
          .min = 1,
          .max = 3600000},
         {.name = "rotate.bytes",
          .type = option_type::bytes,
          .fallback = "0",
          .doc =
              "Size beyond which the file is not grown: it is renamed to name-000001.ext, ... and "
              "begun anew; 0: never",
          .min = 0},
         {.name = "schemas.enable",
          .type = option_type::boolean,
          .doc = "Overrides the connector's schemas.enable for this sink"}},
        check_interval);
    return table;
}

file_options make_file_options(const config::values& values) {
    file_options out;
    out.path = values.path("path");
    const std::string& mode = values.text("fsync");
    out.fsync = mode == "batch"      ? fsync_mode::batch
                : mode == "interval" ? fsync_mode::interval
                                     : fsync_mode::never;
    out.fsync_interval = values.duration("fsync.interval.ms");
    out.rotate_bytes = values.bytes("rotate.bytes");
    return out;
}

} // namespace cdc::file
