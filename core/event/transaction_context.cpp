// SPDX-License-Identifier: Apache-2.0
#include "core/event/transaction_context.hpp"

#include "core/bson/base64.hpp"
#include "core/bson/builder.hpp"
#include "core/bson/extended_json.hpp"
#include "core/event/source_info.hpp"

#include <algorithm>

namespace cdc::event {

namespace {

/// Database names hold no dot, so the text tells namespaces apart.
bool is_name_of(std::string_view name, const change_event& e) noexcept {
    return name.size() == e.db.size() + 1 + e.collection.size() && name.starts_with(e.db) &&
           name[e.db.size()] == '.' && name.ends_with(e.collection);
}

error::diagnostics invalid() {
    return error::fail(error::errc::state_invalid,
                       "stored position: its transaction cannot be read");
}

} // namespace

bool transaction_context::is_of_open(const change_event& e) const noexcept {
    return open() && e.lsid && e.txn_number && *e.txn_number == number_ &&
           std::ranges::equal(e.lsid->bytes(), lsid_);
}

bool transaction_context::is_over_before(const change_event& next) const noexcept {
    return open() && !is_of_open(next);
}

bool transaction_context::is_passed_by(const position& end) const noexcept {
    return open() && end.is_high_water() && end.data() > last_token_;
}

bool transaction_context::begins_with(const change_event& e) const noexcept {
    return e.lsid && e.txn_number && !is_of_open(e);
}

error::result<void> transaction_context::begin(const change_event& e) {
    std::string id;
    {
        json::writer to{id};
        if (auto done = bson::write_json(to, *e.lsid, bson::json_format::strict_compact,
                                         bson::json_embedding::plain);
            !done)
            return done;
        to.raw(":");
        to.integer(*e.txn_number);
    }
    end();
    id_ = std::move(id);
    lsid_.assign(e.lsid->bytes().begin(), e.lsid->bytes().end());
    number_ = *e.txn_number;
    last_time_ms_ = source_time_ms(e);
    return error::result<void>{};
}

transaction_context::place transaction_context::next_place(const change_event& e) const noexcept {
    const auto at =
        std::ranges::find_if(counts_, [&](const count& c) { return is_name_of(c.collection, e); });
    return {total_ + 1, at == counts_.end() ? 1 : at->events + 1};
}

void transaction_context::count_event(const change_event& e) {
    auto at =
        std::ranges::find_if(counts_, [&](const count& c) { return is_name_of(c.collection, e); });
    if (at == counts_.end())
        at = counts_.insert(counts_.end(), {std::string{e.db}.append(".").append(e.collection), 0});
    ++at->events;
    ++total_;
    last_time_ms_ = source_time_ms(e);
    last_token_ = token_text(e);
}

void transaction_context::end() noexcept {
    id_.clear();
    lsid_.clear();
    total_ = 0;
    last_token_.clear();
    counts_.clear();
}

std::shared_ptr<const std::string> transaction_context::save() const {
    if (!open())
        return nullptr;
    bson::builder counts;
    for (const auto& c : counts_)
        counts.document(
            std::to_string(counts.count()),
            bson::builder{}.string("collection", c.collection).int64("events", c.events).finish());
    const auto lsid = bson::view::from(lsid_);
    bson::builder b;
    b.string("id", id_)
        .document("lsid", lsid ? *lsid : bson::view{})
        .int64("number", number_)
        .int64("time", last_time_ms_)
        .string("token", last_token_)
        .array("counts", counts.finish());
    const auto saved = b.finish();
    std::string out(bson::base64_size(saved.size()) + 1, '\0');
    const char* end = bson::write_base64(out.data(), saved.view().bytes());
    out.resize(static_cast<std::size_t>(end - out.data()));
    return std::make_shared<const std::string>(std::move(out));
}

error::result<void> transaction_context::restore(std::string_view saved) {
    const auto bytes = bson::read_base64(saved);
    if (!bytes)
        return invalid();
    const auto document = bson::view::from(*bytes);
    if (!document)
        return invalid();
    const auto text = [&](const char* name) {
        const auto field = bson::find(*document, name);
        return field && field->kind() == bson::type::string ? std::optional{field->as_string()}
                                                            : std::nullopt;
    };
    const auto id = text("id");
    const auto token = text("token");
    const auto lsid = bson::find(*document, "lsid");
    const auto number = bson::find(*document, "number");
    const auto time = bson::find(*document, "time");
    const auto counts = bson::find(*document, "counts");
    if (!id || id->empty() || !token || !lsid || lsid->kind() != bson::type::document || !number ||
        number->kind() != bson::type::int64 || !time || time->kind() != bson::type::int64 ||
        !counts || counts->kind() != bson::type::array)
        return invalid();
    transaction_context out;
    bson::cursor c{counts->as_document()};
    while (c.next()) {
        if (c.kind() != bson::type::document)
            return invalid();
        const auto collection = bson::find(c.as_document(), "collection");
        const auto events = bson::find(c.as_document(), "events");
        if (!collection || collection->kind() != bson::type::string || !events ||
            events->kind() != bson::type::int64 || events->as_int64() < 1)
            return invalid();
        out.counts_.push_back({std::string{collection->as_string()}, events->as_int64()});
        out.total_ += events->as_int64();
    }
    if (c.malformed())
        return invalid();
    out.id_ = *id;
    const auto session = lsid->as_document().bytes();
    out.lsid_.assign(session.begin(), session.end());
    out.number_ = number->as_int64();
    out.last_time_ms_ = time->as_int64();
    out.last_token_ = *token;
    *this = std::move(out);
    return error::result<void>{};
}

} // namespace cdc::event
