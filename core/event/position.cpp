// SPDX-License-Identifier: Apache-2.0
#include "core/event/position.hpp"

#include "core/bson/base64.hpp"
#include "core/bson/builder.hpp"
#include "core/json/reader.hpp"
#include "core/json/writer.hpp"

#include <bson/bson.h>

#include <algorithm>

namespace cdc::event {

namespace {

// A token's text is the hex form of a KeyString: 82 marks a timestamp, eight bytes big-endian
// follow. Then come the token's version (2B02 is 1, 2B04 is 2) and its kind (29 is the number 0, a
// high-water token; 2C0100 is 128, an event's token).
constexpr std::string_view timestamp_mark = "82";
constexpr std::size_t time_end = 18;
constexpr std::size_t version_end = 22;
// Behind the kind come the number of the event within its transaction and whether it is an
// invalidate (6E no, 6F yes).
constexpr std::string_view yes_mark = "6F";

std::optional<std::uint32_t> read_hex(std::string_view digits) noexcept {
    std::uint32_t out = 0;
    for (const char c : digits) {
        std::uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = static_cast<std::uint32_t>(c - '0');
        else if (c >= 'A' && c <= 'F')
            digit = static_cast<std::uint32_t>(c - 'A') + 10;
        else if (c >= 'a' && c <= 'f')
            digit = static_cast<std::uint32_t>(c - 'a') + 10;
        else
            return std::nullopt;
        out = out << 4 | digit;
    }
    return out;
}

/// Cuts a number that is not negative off: 29 is 0, 2B to 32 are followed by 1 to 8 bytes.
bool skip_number(std::string_view& rest) noexcept {
    if (rest.starts_with("29")) {
        rest.remove_prefix(2);
        return true;
    }
    if (rest.size() < 2)
        return false;
    const auto first = read_hex(rest.substr(0, 2));
    if (!first || *first < 0x2b || *first > 0x32)
        return false;
    const std::size_t digits = 2 * (1 + (*first - 0x2a));
    if (rest.size() < digits)
        return false;
    rest.remove_prefix(digits);
    return true;
}

error::diagnostics invalid(std::string_view what) {
    return error::fail(error::errc::state_invalid, std::string{"stored position: "}.append(what));
}

} // namespace

position::position(bson::view token, bson::timestamp cluster_time)
    : token_(bson::document::copy_of(token))
    , time_(cluster_time) {
    if (const auto data = bson::find(token, "_data"); data && data->kind() == bson::type::string)
        data_ = data->as_string();
}

bool position::is_high_water() const noexcept {
    if (!time_of(data_) || data_.size() < version_end + 2)
        return false;
    const std::string_view version =
        std::string_view{data_}.substr(time_end, version_end - time_end);
    const std::string_view kind = std::string_view{data_}.substr(version_end, 2);
    return (version == "2B02" || version == "2B04") && kind == "29";
}

bool position::is_from_invalidate() const noexcept {
    if (!time_of(data_) || data_.size() < version_end)
        return false;
    const std::string_view version =
        std::string_view{data_}.substr(time_end, version_end - time_end);
    if (version != "2B02" && version != "2B04")
        return false;
    std::string_view rest = std::string_view{data_}.substr(version_end);
    return skip_number(rest) && skip_number(rest) && rest.starts_with(yes_mark);
}

position position::clone() const {
    position out;
    out.token_ = token_.clone();
    out.data_ = data_;
    out.time_ = time_;
    out.transaction_ = transaction_;
    return out;
}

std::string position::to_json() const {
    std::string out;
    json::writer to{out};
    to.raw(R"({"resume_token":")");
    const auto bytes = token().bytes();
    to.advance_to(bson::write_base64(to.need(bson::base64_size(bytes.size()) + 1), bytes));
    to.raw(R"(","data":)");
    to.string(data_);
    to.raw(R"(,"sec":)");
    to.integer(time_.t);
    to.raw(R"(,"ord":)");
    to.integer(time_.i);
    if (transaction_) {
        to.raw(R"(,"transaction":)");
        to.string(*transaction_);
    }
    to.raw("}");
    to.close();
    return out;
}

error::result<position> position::from_json(std::string_view json) {
    const auto object = json::reader::parse(json);
    if (!object)
        return invalid(object.error().text);
    const auto token_text = object->string("resume_token");
    const auto sec = object->unsigned_integer("sec");
    const auto ord = object->unsigned_integer("ord");
    if (!token_text)
        return invalid(token_text.error().text);
    if (!sec)
        return invalid(sec.error().text);
    if (!ord)
        return invalid(ord.error().text);
    const auto bytes = bson::read_base64(*token_text);
    if (!bytes)
        return invalid("resume_token is not base64");
    const auto token = bson::view::from(*bytes);
    if (!token)
        return invalid("resume_token is not a BSON document");
    position out{*token, {static_cast<std::uint32_t>(*sec), static_cast<std::uint32_t>(*ord)}};
    if (const auto transaction = object->string("transaction"))
        out.set_transaction(std::make_shared<const std::string>(*transaction));
    // One form only is ever written, so writing it again finds every other difference: `data` of
    // another token, times out of range, members that a newer program added.
    if (out.to_json() != json)
        return invalid("its parts do not belong together");
    return out;
}

error::result<position> position::from_token_text(std::string_view text) {
    const auto bad = [](const char* why) { return error::fail(error::errc::bad_data, why); };
    bson::document made;
    if (text.starts_with('{')) {
        bson_error_t unused{}; // its text repeats the input
        bson_t* parsed = bson_new_from_json(reinterpret_cast<const std::uint8_t*>(text.data()),
                                            static_cast<ssize_t>(text.size()), &unused);
        if (!parsed)
            return bad("is not the JSON text of a resume token");
        if (const auto seen = bson::view::from({bson_get_data(parsed), parsed->len}))
            made = bson::document::copy_of(*seen);
        bson_destroy(parsed);
    } else {
        bson::builder b;
        made = b.string("_data", text).finish();
    }
    const bson::view token = made;
    const auto data = bson::find(token, "_data");
    if (!data || data->kind() != bson::type::string)
        return bad("is not a resume token: it has no text _data");
    const auto hex = data->as_string();
    const auto time = time_of(hex);
    const bool digits = std::all_of(hex.begin(), hex.end(), [](unsigned char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
    });
    if (!time || !digits || hex.size() % 2 != 0)
        return bad("is not a resume token: its _data is not hex digits that begin with 82 and a "
                   "cluster time");
    return position(token, *time);
}

std::optional<bson::timestamp> position::time_of(std::string_view data) noexcept {
    if (data.size() < time_end || !data.starts_with(timestamp_mark))
        return std::nullopt;
    const auto t = read_hex(data.substr(2, 8));
    const auto i = read_hex(data.substr(10, 8));
    if (!t || !i)
        return std::nullopt;
    return bson::timestamp{*t, *i};
}

} // namespace cdc::event
