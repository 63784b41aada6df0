// SPDX-License-Identifier: Apache-2.0
#include "core/json/reader.hpp"

#include <simdjson.h>

#include <string>
#include <utility>

namespace cdc::json {

struct reader::impl {
    simdjson::dom::parser parser;
    simdjson::dom::object object;
};

reader::reader(std::unique_ptr<impl> parsed) noexcept
    : impl_(std::move(parsed)) {}
reader::~reader() = default;
reader::reader(reader&&) noexcept = default;
reader& reader::operator=(reader&&) noexcept = default;

namespace {

error::diagnostics wrong_member(std::string_view member, simdjson::error_code why) {
    return error::fail(error::errc::bad_data,
                       std::string{"JSON member "}.append(member).append(": ").append(
                           simdjson::error_message(why)));
}

} // namespace

error::result<reader> reader::parse(std::string_view text) {
    auto parsed = std::make_unique<impl>();
    // The bytes behind `text` may not be ours to read, so simdjson is told to copy.
    const auto why =
        parsed->parser.parse(text.data(), text.size(), true).get_object().get(parsed->object);
    if (why)
        return error::fail(error::errc::bad_data,
                           std::string{"not a JSON object: "} + simdjson::error_message(why));
    return reader{std::move(parsed)};
}

error::result<std::string_view> reader::string(std::string_view member) const {
    std::string_view out;
    if (const auto why = impl_->object.at_key(member).get_string().get(out))
        return wrong_member(member, why);
    return out;
}

error::result<std::uint64_t> reader::unsigned_integer(std::string_view member) const {
    std::uint64_t out = 0;
    if (const auto why = impl_->object.at_key(member).get_uint64().get(out))
        return wrong_member(member, why);
    return out;
}

} // namespace cdc::json
