// SPDX-License-Identifier: Apache-2.0
#include "bench/documents/generator.hpp"

#include <bson/bson.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace cdc::bench {

namespace {

constexpr std::array<const char*, 24> words{
    "linen", "winter",  "delivery", "blue",    "please", "ring",   "twice",  "wooden",
    "small", "kitchen", "gift",     "wrapped", "with",   "card",   "for",    "Anna",
    "large", "leather", "belt",     "size",    "return", "before", "friday", "door"};
// What is not plain ASCII; about one word in twelve.
constexpr std::array<const char*, 8> rare_words{
    "Zürich", "café", "\"express\"", "Straße", "東京", "line\nbreak", "C:\\orders", "\U0001F381"};
constexpr std::array<const char*, 5> states{"new", "paid", "packed", "shipped", "returned"};

/// Checks every append: a document that is not what it should be is no measurement.
void must(bool appended) {
    if (!appended)
        throw std::runtime_error("libbson refused to append");
}

// libbson's own macro evaluates the text twice.
void put(bson_t* to, std::string_view name, std::string_view text) {
    must(bson_append_utf8(to, name.data(), static_cast<int>(name.size()), text.data(),
                          static_cast<int>(text.size())));
}

bson::document take(bson_t& from) {
    std::uint32_t size = 0;
    std::uint8_t* data = bson_destroy_with_steal(&from, true, &size);
    return bson::document::adopt(data, size);
}

} // namespace

struct generator::writing {
    generator& from;

    std::string text(std::uint32_t count) {
        std::string out;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i != 0)
                out += ' ';
            out += from.below(12) == 0 ? rare_words[from.below(rare_words.size())]
                                       : words[from.below(words.size())];
        }
        return out;
    }

    void object_id(bson_t* to, const char* name) {
        bson_oid_t id;
        for (auto& byte : id.bytes)
            byte = static_cast<std::uint8_t>(from.next());
        must(BSON_APPEND_OID(to, name, &id));
    }

    void date(bson_t* to, const char* name) {
        must(BSON_APPEND_DATE_TIME(to, name,
                                   1700000000000 + static_cast<std::int64_t>(from.next() >> 30)));
    }

    void decimal(bson_t* to, const char* name) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%u.%02u", from.below(5000), from.below(100));
        bson_decimal128_t value;
        must(bson_decimal128_from_string(digits, &value));
        must(BSON_APPEND_DECIMAL128(to, name, &value));
    }

    void item(bson_t* items, std::uint32_t index) {
        char sku[24];
        std::snprintf(sku, sizeof sku, "SKU-%08x", static_cast<unsigned>(from.next()));
        bson_t item;
        const std::string name = std::to_string(index);
        must(BSON_APPEND_DOCUMENT_BEGIN(items, name.c_str(), &item));
        put(&item, "sku", sku);
        put(&item, "name", text(2 + from.below(4)));
        must(BSON_APPEND_INT32(&item, "quantity", static_cast<std::int32_t>(1 + from.below(9))));
        must(BSON_APPEND_DOUBLE(&item, "price", static_cast<double>(from.below(100000)) / 100));
        must(BSON_APPEND_BOOL(&item, "gift", from.below(4) == 0));
        if (from.below(3) == 0)
            date(&item, "available");
        if (from.below(8) == 0)
            must(BSON_APPEND_NULL(&item, "discount"));
        must(bson_append_document_end(items, &item));
    }

    void address(bson_t* to) {
        bson_t address;
        must(BSON_APPEND_DOCUMENT_BEGIN(to, "address", &address));
        put(&address, "street", text(2));
        must(BSON_APPEND_INT32(&address, "zip", static_cast<std::int32_t>(from.below(99999))));
        put(&address, "city", text(1));
        must(bson_append_document_end(to, &address));
    }

    void history(bson_t* to) {
        bson_t history;
        must(BSON_APPEND_ARRAY_BEGIN(to, "history", &history));
        for (std::uint32_t i = 0; i < 3; ++i) {
            bson_t step;
            const std::string name = std::to_string(i);
            must(BSON_APPEND_DOCUMENT_BEGIN(&history, name.c_str(), &step));
            put(&step, "state", states[i]);
            date(&step, "at");
            object_id(&step, "by");
            must(bson_append_document_end(&history, &step));
        }
        must(bson_append_array_end(to, &history));
    }
};

generator::generator(std::uint64_t seed)
    : state_(seed) {}

// SplitMix64.
std::uint64_t generator::next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

std::uint32_t generator::below(std::uint32_t limit) noexcept {
    return static_cast<std::uint32_t>((next() >> 32) * limit >> 32);
}

bson::document generator::order(std::size_t size) {
    writing w{*this};
    bson_t doc;
    bson_init(&doc);
    w.object_id(&doc, "_id");
    must(BSON_APPEND_INT64(&doc, "customer", static_cast<std::int64_t>(next() >> 20)));
    put(&doc, "state", states[below(states.size())]);
    w.date(&doc, "created");
    w.decimal(&doc, "total");
    must(BSON_APPEND_BOOL(&doc, "paid", below(2) == 0));
    w.address(&doc);
    if (size >= 600) {
        w.history(&doc);
        must(BSON_APPEND_NULL(&doc, "coupon"));
        std::array<std::uint8_t, 32> digest;
        for (auto& byte : digest)
            byte = static_cast<std::uint8_t>(next());
        must(BSON_APPEND_BINARY(&doc, "digest", BSON_SUBTYPE_BINARY, digest.data(), digest.size()));
    }
    // About a seventh is one longer text, as in documents that people write into.
    const auto words_of_text = static_cast<std::uint32_t>(size / 7 / 6);
    put(&doc, "note", w.text(words_of_text));
    bson_t items;
    bson_t list;
    bson_init(&list);
    const std::size_t overhead = 13;
    for (std::uint32_t i = 0; doc.len + list.len + overhead + 55 < size; ++i)
        w.item(&list, i);
    must(BSON_APPEND_ARRAY_BEGIN(&doc, "items", &items));
    must(bson_concat(&items, &list));
    must(bson_append_array_end(&doc, &items));
    bson_destroy(&list);
    return take(doc);
}

bson::document generator::insert_event(bson::view order, std::string_view db,
                                       std::string_view collection) {
    const std::uint32_t seconds = 1700000000 + number_ / 1000;
    const std::uint32_t ordinal = 1 + number_ % 1000;
    ++number_;
    const auto id = bson::find(order, "_id");
    if (!id || id->kind() != bson::type::oid)
        throw std::invalid_argument("an order has an object id");
    std::string hex;
    for (const std::uint8_t byte : id->as_oid()) {
        char two[3];
        std::snprintf(two, sizeof two, "%02X", byte);
        hex += two;
    }
    char head[64];
    std::snprintf(head, sizeof head, "82%08X%08X2B022C0100296E5A1004", seconds, ordinal);
    const std::string token =
        head + std::string("9FBD1C6B5A2E4C4E8F6A1D2B3C4D5E6F") + "46645F69640064" + hex + "0004";

    bson_t doc;
    bson_init(&doc);
    bson_t part;
    must(BSON_APPEND_DOCUMENT_BEGIN(&doc, "_id", &part));
    put(&part, "_data", token);
    must(bson_append_document_end(&doc, &part));
    put(&doc, "operationType", "insert");
    must(BSON_APPEND_TIMESTAMP(&doc, "clusterTime", seconds, ordinal));
    bson_t full;
    must(bson_init_static(&full, order.data(), order.size()));
    must(BSON_APPEND_DOCUMENT(&doc, "fullDocument", &full));
    must(BSON_APPEND_DOCUMENT_BEGIN(&doc, "ns", &part));
    must(bson_append_utf8(&part, "db", -1, db.data(), static_cast<int>(db.size())));
    must(bson_append_utf8(&part, "coll", -1, collection.data(),
                          static_cast<int>(collection.size())));
    must(bson_append_document_end(&doc, &part));
    must(BSON_APPEND_DOCUMENT_BEGIN(&doc, "documentKey", &part));
    bson_oid_t oid;
    bson_oid_init_from_data(&oid, id->as_oid().data());
    must(BSON_APPEND_OID(&part, "_id", &oid));
    must(bson_append_document_end(&doc, &part));
    return take(doc);
}

} // namespace cdc::bench
