// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cdc::test::standin {

/// What a member does to a client's command instead of (or before) running it: the server's fail
/// point "failCommand". In the order of their effect: it waits (`block`, `hold`), closes the
/// connection, or fails with `error_code`; with none of the two the command is run after the wait.
struct command_fault {
    std::vector<std::string> commands; ///< by name; isMaster, ismaster and hello are one
    std::optional<int> error_code;
    /// Exactly these labels; without them those that the server itself would give.
    std::optional<std::vector<std::string>> labels;
    bool close_connection = false;
    std::chrono::milliseconds block{0};
    std::string app_name;             ///< only clients of this name; empty: all
    std::size_t skip = 0;             ///< so many commands pass first
    std::optional<std::size_t> times; ///< nothing: always

    // The server has no such thing.
    bool hold = false;   ///< the command waits until the fault is replaced or ended
    std::string message; ///< the error's text; empty: the server's own

    /// `mode` and `data` of configureFailPoint; nothing when the mode is "off". `data` may have the
    /// stand-in's own fields standInHold and standInMessage. Throws server_error.
    static std::optional<command_fault> parse(const bson::cursor& mode, bson::view data);
};

} // namespace cdc::test::standin
