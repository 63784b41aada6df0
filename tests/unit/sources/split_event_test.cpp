// SPDX-License-Identifier: Apache-2.0
#include "core/bson/extended_json.hpp"
#include "sources/mongodb/cursor/split_event.hpp"
#include "sources/mongodb/streaming/decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/sources/stream_fixture.hpp"

#include <string>
#include <vector>

using namespace cdc;
using namespace cdc::test;
namespace asio = boost::asio;
using mongodb::cursor::split_event;

namespace {

bson::builder fragment(std::uint32_t second, std::int32_t number, std::int32_t of) {
    bson::builder part;
    part.int32("fragment", number).int32("of", of);
    bson::builder b;
    b.document("_id", fake_set::event_token(second)).document("splitEvent", part.finish());
    return b;
}

bson::document ns() {
    return bson::builder{}.string("db", "shop").string("coll", "orders").finish();
}

/// An update in three fragments as MongoDB's manual shows them; `id` also stands in the documents.
std::vector<bson::document> update_in_three(std::uint32_t second, std::int32_t id) {
    std::vector<bson::document> out;
    const auto key = bson::builder{}.int32("_id", id).finish();
    auto first = fragment(second, 1, 3);
    first.string("operationType", "update").timestamp("clusterTime", {second, 1});
    first.document("ns", ns()).document("documentKey", key);
    first.document("fullDocumentBeforeChange",
                   bson::builder{}.int32("_id", id).string("v", "old").finish());
    out.push_back(first.finish());
    auto second_one = fragment(second + 1, 2, 3);
    second_one.document("updateDescription",
                        bson::builder{}
                            .document("updatedFields", bson::builder{}.string("v", "new").finish())
                            .array("removedFields", {})
                            .finish());
    out.push_back(second_one.finish());
    auto third = fragment(second + 2, 3, 3);
    third.document("fullDocument", bson::builder{}.int32("_id", id).string("v", "new").finish());
    out.push_back(third.finish());
    return out;
}

error::result<std::optional<bson::document>> add(split_event& to, const bson::document& change) {
    const auto part = split_event::part_of(change);
    REQUIRE(part);
    REQUIRE(part.value());
    return to.add(change, *part.value());
}

} // namespace

TEST_CASE("fault 38: fragments become one event with the last one's token", "[sources][fault-38]") {
    const auto parts = update_in_three(1001, 7);
    split_event joined;
    CHECK_FALSE(add(joined, parts[0]).value());
    CHECK(joined.pending());
    CHECK_FALSE(add(joined, parts[1]).value());
    auto whole = add(joined, parts[2]);
    REQUIRE(whole);
    REQUIRE(*whole);
    CHECK_FALSE(joined.pending());
    const auto e = mongodb::streaming::decode(**whole);
    REQUIRE(e);
    CHECK(e->op == event::operation::update);
    CHECK(e->db == "shop");
    CHECK(e->id->as_int32() == 7);
    CHECK(e->cluster_time == bson::timestamp{1001, 1});
    CHECK(bson::find(*e->before, "v")->as_string() == "old");
    CHECK(bson::find(*e->after, "v")->as_string() == "new");
    REQUIRE(e->update);
    CHECK(bson::find(e->update->updated_fields, "v")->as_string() == "new");
    CHECK(bson::find(e->resume_token, "_data")->as_string() ==
          bson::find_path(parts[2], "_id._data")->as_string());
    CHECK(bson::find(**whole, "splitEvent") == std::nullopt);
}

TEST_CASE("fault 40: whatever optional fields a server leaves out stay missing",
          "[sources][fault-40]") {
    // Neither nsType, wallTime, lsid nor a pre-image; and fields that nobody knows.
    for (const bool extras : {false, true}) {
        auto first = fragment(1001, 1, 2);
        first.string("operationType", "insert").timestamp("clusterTime", {1001, 1});
        if (extras)
            first.string("nsType", "collection").date_ms("wallTime", 5).int32("later", 1);
        first.document("ns", ns());
        auto second = fragment(1002, 2, 2);
        second.document("fullDocument", bson::builder{}.int32("_id", 1).finish());
        split_event joined;
        const auto a = first.finish();
        const auto b = second.finish();
        REQUIRE(add(joined, a));
        const auto whole = add(joined, b);
        REQUIRE(whole);
        REQUIRE(*whole);
        const auto e = mongodb::streaming::decode(**whole);
        REQUIRE(e);
        CHECK(e->wall_time_ms.has_value() == extras);
        CHECK_FALSE(e->lsid);
        CHECK_FALSE(e->before);
        CHECK(e->after);
        CHECK(bson::find(**whole, "nsType").has_value() == extras);
        CHECK(bson::find(**whole, "later").has_value() == extras);
    }
}

TEST_CASE("a fragment's token is known by the number behind its key", "[sources]") {
    const std::string whole = "826B0D17C5000000022B022C0100296E5A10044425A7D76CF5416D90EF45912A2346"
                              "62461E5F6964002B0200";
    CHECK_FALSE(split_event::is_fragment_token(whole + "04"));
    CHECK(split_event::is_fragment_token(whole + "2904"));
    CHECK(split_event::is_fragment_token(whole + "2B0204"));
    CHECK(split_event::is_fragment_token(whole + "2B0404"));
    for (const char* other :
         {"826B0D17C40000004D2B0229296E04", "826B0D17C5000000162B022C0100296F04", "04", "", "2904"})
        CHECK_FALSE(split_event::is_fragment_token(other));
}

TEST_CASE("fragments that do not follow each other are refused", "[sources]") {
    const auto parts = update_in_three(1001, 7);
    split_event joined;
    CHECK(add(joined, parts[1]).error().code == error::errc::bad_data);
    REQUIRE(add(joined, parts[0]));
    CHECK(add(joined, parts[2]).error().text.find("fragment 3 of 3 where 2 of 3 should follow") !=
          std::string::npos);
    CHECK_FALSE(joined.pending());
    REQUIRE(add(joined, parts[0]));
    const auto other = fragment(1002, 2, 4).finish();
    CHECK_FALSE(add(joined, other));
    // A new beginning, and a whole event, forget what was begun.
    REQUIRE(add(joined, parts[0]));
    REQUIRE(add(joined, parts[0]));
    joined.forget();
    CHECK_FALSE(joined.pending());
    for (const auto& part : parts)
        REQUIRE(add(joined, part));
    CHECK_FALSE(joined.pending());
    // One fragment is an event too.
    auto only = fragment(1001, 1, 1);
    const auto one = only.string("operationType", "delete").finish();
    CHECK(add(joined, one).value());

    for (const auto& numbers : {std::pair{0, 1}, {2, 1}, {-1, -1}})
        CHECK_FALSE(split_event::part_of(fragment(1001, numbers.first, numbers.second).finish()));
    CHECK_FALSE(split_event::part_of(bson::builder{}.int32("splitEvent", 1).finish()));
    CHECK_FALSE(split_event::part_of(bson::builder{}.int32("_id", 1).finish()).value());
}

TEST_CASE("an endless event is refused before it takes all memory", "[sources]") {
    const std::vector<std::uint8_t> data(16U << 20U, 'x');
    split_event joined;
    std::optional<error::diagnostics> refused;
    for (std::int32_t i = 1; i <= 10 && !refused; ++i) {
        auto b = fragment(1000, i, 1000);
        const auto part = b.binary("f" + std::to_string(i), 0, data).finish();
        const auto added = add(joined, part);
        if (!added)
            refused = added.error();
        else
            CHECK(i <= 4);
    }
    REQUIRE(refused);
    CHECK(refused->text.find("bytes") != std::string::npos);
}

static asio::awaitable<void> borders_inside(stream_fixture& f, std::int32_t batch_size) {
    f.settings.oversize = mongodb::cursor::oversize_mode::split;
    f.settings.batch_size = batch_size;
    f.set.add(1);
    for (auto& part : update_in_three(1002, 2)) {
        const auto second =
            event::position::time_of(bson::find_path(part, "_id._data")->as_string())->t;
        f.set.add_raw(second, std::move(part));
    }
    f.set.add(3);
    for (auto& part : update_in_three(1006, 4)) {
        const auto second =
            event::position::time_of(bson::find_path(part, "_id._data")->as_string())->t;
        f.set.add_raw(second, std::move(part));
    }
    // A fault inside the second of them: its fragments come again from the first one on.
    f.set.faults.push_back({"getMore", static_cast<unsigned>(6 / batch_size), 1, server_says(43)});
    co_await start_at_high_water(f, 1000);
    received got;
    co_await take_events(*f.source, got, 4);
    CHECK_FALSE(got.error);
    CHECK(got.ids == std::vector<std::int32_t>{1, 2, 3, 4});
    CHECK(got.tokens[1] == bson::find(fake_set::event_token(1004), "_data")->as_string());
    // Nothing is stored that lies inside an event.
    for (const auto& end : got.ends) {
        INFO(end.cluster_time().t);
        CHECK((end.is_high_water() || end.cluster_time().t <= 1001 ||
               end.cluster_time().t == 1004 || end.cluster_time().t == 1005 ||
               end.cluster_time().t == 1008));
    }
    // Killed after any batch: the whole event comes after the restart.
    std::vector<event::position> stored;
    for (const auto& end : got.ends)
        stored.push_back(end.clone());
    co_await f.source->stop();
    for (auto& position : stored) {
        const auto behind = position.cluster_time().t;
        received rest;
        std::vector<std::int32_t> wanted;
        for (const auto& [last, id] : {std::pair{1001U, 1}, {1004U, 2}, {1005U, 3}, {1008U, 4}})
            if (last > behind)
                wanted.push_back(id);
        co_await start_at(f, std::move(position));
        co_await take_events(*f.source, rest, wanted.size());
        CHECK_FALSE(rest.error);
        CHECK(rest.ids == wanted);
        co_await f.source->stop();
    }
}

TEST_CASE("fault 38: batches that end inside an event leave it whole, a kill there too",
          "[sources][stream][fault-38]") {
    for (const std::int32_t batch_size : {1, 2, 3}) {
        INFO("batches of " << batch_size);
        stream_fixture f;
        f.run(borders_inside(f, batch_size));
    }
}
