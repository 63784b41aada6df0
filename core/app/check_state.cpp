// SPDX-License-Identifier: Apache-2.0
#include "core/app/check_state.hpp"

#include "core/offset/process_lock.hpp"
#include "core/offset/sqlite_store.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace cdc::app {

namespace {

/// Empty: the state file can be created, or its log beside it.
std::string folder_problem(const std::filesystem::path& folder) {
    std::error_code ec;
    if (!std::filesystem::is_directory(folder, ec))
        return fmt::format("the folder {} does not exist", folder.string());
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return fmt::format("cannot write to the folder {}: {}", folder.string(),
                           std::strerror(errno));
    return {};
}

bool holds_nothing(const std::filesystem::path& path) {
    std::error_code ec;
    const auto size = std::filesystem::file_size(path, ec);
    const auto log = std::filesystem::file_size(path.native() + "-wal", ec);
    return size == 0 && (ec || log == 0);
}

} // namespace

state_view check_state(const std::optional<std::filesystem::path>& path,
                       const report_item& report) {
    state_view out;
    if (!path) {
        report(verdict::ok, "state", "memory: positions are forgotten when the program ends");
        return out;
    }
    const auto name = path->string();
    const auto fail = [&](const std::string& text) { report(verdict::fail, "state", text); };

    const auto folder = std::filesystem::absolute(*path).parent_path();
    if (const auto problem = folder_problem(folder); !problem.empty()) {
        fail(fmt::format("{}: {}", name, problem));
        return out;
    }
    const auto held = offset::process_lock::look(path->native() + ".lock");
    if (!held && held.error().code != error::errc::state_locked) {
        fail(held.error().describe());
        return out;
    }
    out.in_use = !held;

    std::error_code ec;
    if (!std::filesystem::exists(*path, ec)) {
        report(verdict::ok, "state", name + " will be created");
        return out;
    }
    if (!std::filesystem::is_regular_file(*path, ec)) {
        fail(name + " is not a regular file");
        return out;
    }
    if (::access(path->c_str(), R_OK | W_OK) != 0) {
        fail(fmt::format("cannot write to {}: {}", name, std::strerror(errno)));
        return out;
    }
    if (holds_nothing(*path)) {
        report(verdict::ok, "state", name + " is empty");
        return out;
    }
    auto opened = offset::sqlite_store::open_to_read(*path);
    if (!opened) {
        fail(opened.error().describe());
        return out;
    }
    out.store = std::move(*opened);
    if (out.in_use)
        report(
            verdict::warn, "state",
            fmt::format("{} is in use: {}; another run would be refused", name, held.error().text));
    else
        report(verdict::ok, "state", name + " is sound");
    return out;
}

} // namespace cdc::app
