// SPDX-License-Identifier: Apache-2.0
#include "tests/support/standin/recorded_history.hpp"

#include "tests/support/standin/recording.hpp"
#include "tests/support/standin/server_error.hpp"

#include <simdjson.h>

#include <fstream>
#include <stdexcept>

namespace cdc::test::standin {

namespace {

bson::timestamp cluster_time(bson::view change) {
    const auto ts = bson::find(change, "clusterTime");
    return ts && ts->kind() == bson::type::timestamp ? ts->as_timestamp() : bson::timestamp{};
}

} // namespace

void recorded_history::add(bson::document change) {
    const auto id = bson::find(change, "_id");
    const auto ts = bson::find(change, "clusterTime");
    if (!id || id->kind() != bson::type::document || !ts || ts->kind() != bson::type::timestamp)
        throw std::runtime_error("a change document needs an _id and a clusterTime");
    changes_.push_back(std::move(change));
}

void recorded_history::load(const std::filesystem::path& jsonl) {
    std::ifstream in(jsonl);
    if (!in)
        throw std::runtime_error("cannot read " + jsonl.string());
    const std::size_t before = changes_.size();
    simdjson::dom::parser parser;
    std::string line;
    while (std::getline(in, line)) {
        simdjson::dom::object row;
        if (parser.parse(line).get(row) != simdjson::SUCCESS)
            throw std::runtime_error(jsonl.string() + ": a line is not a JSON object");
        simdjson::dom::element ignored;
        std::string_view encoded;
        if (row["event"].get(ignored) == simdjson::SUCCESS) {
            if (row["bson"].get(encoded) != simdjson::SUCCESS)
                throw std::runtime_error(jsonl.string() + ": an event without its bson");
        } else if (row["change"].get(encoded) != simdjson::SUCCESS) {
            continue;
        }
        auto doc = bson::document::from_bytes(from_base64(encoded));
        if (!doc)
            throw std::runtime_error(jsonl.string() + ": " + doc.error().describe());
        add(std::move(*doc));
    }
    if (changes_.size() == before)
        throw std::runtime_error(jsonl.string() + " has no change document");
}

std::size_t recorded_history::begin_at(const std::optional<resume_token>& token,
                                       const std::optional<bson::timestamp>& time) const {
    if (!token && !time)
        return 0;
    if (token && !token->is_high_water()) {
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            const auto data = bson::find_path(changes_[i], "_id._data");
            if (data && data->kind() == bson::type::string && data->as_string() == token->data())
                return i + 1;
        }
        server_error e(code::change_stream_fatal_error,
                       "cannot resume stream; the resume token was not found. " +
                           token->describe());
        e.labels.emplace_back("NonResumableChangeStreamError");
        throw e;
    }
    const bson::timestamp from = token ? token->cluster_time() : *time;
    std::size_t i = 0;
    while (i < changes_.size() && cluster_time(changes_[i]) < from)
        ++i;
    return i;
}

recorded_cursor::recorded_cursor(const recorded_history& history,
                                 const std::optional<resume_token>& token,
                                 const std::optional<bson::timestamp>& time)
    : history_(history)
    , next_(history.begin_at(token, time)) {
    if (token)
        position_ = token->to_document();
    else
        position_ =
            resume_token::high_water(time.value_or(cluster_time(history.at(0)))).to_document();
}

void recorded_cursor::fill(batch& out) {
    while (next_ < history_.size() && out.fits(history_.at(next_).size())) {
        const bson::view change = history_.at(next_++);
        out.add(bson::document::copy_of(change));
        position_ = bson::document::copy_of(bson::find(change, "_id")->as_document());
    }
}

} // namespace cdc::test::standin
