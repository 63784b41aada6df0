// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/bson/document.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cdc::test::standin {

/// One line of a recording of a real server (tests/data/recordings).
struct recorded_row {
    std::string op;                   ///< the name of an operation that was done
    std::string error;                ///< what the client said about it
    std::string note;                 ///< what the recorder said about it
    std::string network;              ///< what the client said when it got no reply, cut short
    std::optional<std::int32_t> code; ///< the server's code, for an op or a command that failed
    std::optional<bson::document> command;
    std::optional<bson::document> reply;
    std::optional<bson::document> event;
    std::optional<bson::document> oplog;
    std::optional<bson::document> reply_shape; ///< names and order of a getMore's reply
    std::optional<bson::document> position;    ///< that reply's postBatchResumeToken
    std::int64_t count = 0;                    ///< and its number of documents
};

/// All lines. Documents with their raw BSON recorded are that; the others are parsed from extended
/// JSON. Throws std::runtime_error.
std::vector<recorded_row> read_recording(const std::filesystem::path& file);

/// From extended JSON. Throws std::invalid_argument.
bson::document from_json(std::string_view json);

/// From base64; throws std::runtime_error.
std::vector<std::uint8_t> from_base64(std::string_view text);

} // namespace cdc::test::standin
