// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/cursor/split_event.hpp"

#include <fmt/format.h>

namespace cdc::mongodb::cursor {

namespace {

error::diagnostics broken(std::string what) {
    return error::fail(error::errc::bad_data, "split change event " + std::move(what));
}

} // namespace

error::result<std::optional<split_event::part>> split_event::part_of(bson::view change) {
    const auto field = bson::find(change, "splitEvent");
    if (!field)
        return std::optional<part>{};
    if (field->kind() == bson::type::document) {
        const auto fragment = bson::find(field->as_document(), "fragment");
        const auto of = bson::find(field->as_document(), "of");
        const auto number = fragment ? fragment->as_integer() : std::nullopt;
        const auto count = of ? of->as_integer() : std::nullopt;
        if (number && count && *number >= 1 && *number <= *count)
            return std::optional<part>{{*number, *count}};
    }
    return broken("does not say which fragment of how many it is");
}

bool split_event::is_fragment_token(std::string_view data) noexcept {
    // In hex: 00 ends the document's key, then comes the number (29 is 0, 2B02 is 1, 2B04 is 2 …),
    // and 04 ends the token.
    if (!data.ends_with("04"))
        return false;
    data.remove_suffix(2);
    if (data.ends_with("0029"))
        return true;
    return data.size() >= 6 && data.substr(data.size() - 6, 4) == "002B" && !data.ends_with("00");
}

error::result<std::optional<bson::document>> split_event::add(bson::view fragment, part number) {
    if (number.fragment == 1) {
        fields_ = {};
        bytes_ = 0;
        of_ = number.of;
        next_ = 1;
    }
    const auto expected = std::exchange(next_, 1);
    if (number.fragment != expected || number.of != of_)
        return broken(fmt::format("comes as fragment {} of {} where {} of {} should follow",
                                  number.fragment, number.of, expected, of_));
    bytes_ += fragment.size();
    if (bytes_ > largest)
        return broken(fmt::format("has more than {} bytes", largest));
    bson::cursor c(fragment);
    std::optional<bson::cursor> token;
    while (c.next()) {
        if (c.name() == "_id")
            token = c;
        else if (c.name() != "splitEvent")
            fields_.value(c.name(), c);
    }
    if (c.malformed())
        return broken("is malformed BSON");
    if (!token)
        return broken("has no resume token");
    if (!number.last()) {
        next_ = expected + 1;
        return std::optional<bson::document>{};
    }
    fields_.value("_id", *token);
    return std::optional(fields_.finish());
}

} // namespace cdc::mongodb::cursor
