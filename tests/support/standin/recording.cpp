// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/recording.hpp"

#include <bson/bson.h>
#include <openssl/evp.h>
#include <simdjson.h>

#include <fstream>
#include <stdexcept>

namespace cdc::test::standin {

namespace {

std::optional<bson::document> member(const simdjson::dom::object& row, std::string_view name) {
    simdjson::dom::element e;
    if (row[name].get(e) != simdjson::SUCCESS)
        return std::nullopt;
    return from_json(simdjson::minify(e));
}

std::string text(const simdjson::dom::object& row, std::string_view name) {
    std::string_view out;
    return row[name].get(out) == simdjson::SUCCESS ? std::string(out) : std::string();
}

recorded_row read_row(const simdjson::dom::object& row) {
    recorded_row out;
    out.op = text(row, "op");
    out.error = text(row, "error");
    out.note = text(row, "note");
    out.network = text(row, "network");
    std::int64_t number = 0;
    if (row["code"].get(number) == simdjson::SUCCESS)
        out.code = static_cast<std::int32_t>(number);
    if (row["count"].get(number) == simdjson::SUCCESS)
        out.count = number;
    out.command = member(row, "command");
    out.reply = member(row, "reply");
    out.event = member(row, "event");
    out.oplog = member(row, "oplog");
    out.reply_shape = member(row, "reply_shape");
    out.position = member(row, "postBatchResumeToken");
    if (const std::string raw = text(row, "bson"); !raw.empty()) {
        auto doc = bson::document::from_bytes(from_base64(raw));
        if (!doc)
            throw std::runtime_error(doc.error().describe());
        (out.event ? out.event : out.oplog ? out.oplog : out.reply) = std::move(*doc);
    }
    return out;
}

} // namespace

std::vector<std::uint8_t> from_base64(std::string_view encoded) {
    std::vector<std::uint8_t> out(encoded.size() / 4 * 3 + 3);
    const int size =
        EVP_DecodeBlock(out.data(), reinterpret_cast<const unsigned char*>(encoded.data()),
                        static_cast<int>(encoded.size()));
    if (size < 0)
        throw std::runtime_error("not base64");
    std::size_t padding = 0;
    while (padding < 2 && padding < encoded.size() && encoded[encoded.size() - 1 - padding] == '=')
        ++padding;
    out.resize(static_cast<std::size_t>(size) - padding);
    return out;
}

bson::document from_json(std::string_view json) {
    bson_error_t problem;
    bson_t* parsed = bson_new_from_json(reinterpret_cast<const std::uint8_t*>(json.data()),
                                        static_cast<ssize_t>(json.size()), &problem);
    if (parsed == nullptr)
        throw std::invalid_argument(problem.message);
    std::uint32_t size = 0;
    std::uint8_t* data = bson_destroy_with_steal(parsed, true, &size);
    return bson::document::adopt(data, size);
}

std::vector<recorded_row> read_recording(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in)
        throw std::runtime_error("cannot read " + file.string());
    std::vector<recorded_row> out;
    simdjson::dom::parser parser;
    for (std::string line; std::getline(in, line);) {
        simdjson::dom::object row;
        if (parser.parse(line).get(row) != simdjson::SUCCESS)
            throw std::runtime_error(file.string() + ": a line is not a JSON object");
        out.push_back(read_row(row));
    }
    return out;
}

} // namespace cdc::test::standin
