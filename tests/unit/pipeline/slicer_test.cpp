// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/slicer.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/pipeline/fakes.hpp"

using namespace cdc;
using namespace cdc::test;
using pipeline::slicer;

namespace {

std::vector<event::position> starts(std::vector<int> list) {
    std::vector<event::position> out;
    for (const int n : list)
        out.push_back(n == 0 ? event::position{} : place(n));
    return out;
}

struct cut {
    std::uint64_t first = 0, last = 0;
    std::vector<bool> had;
    std::vector<std::pair<std::uint64_t, int>> marks;
    std::vector<bool> in_transaction; ///< per mark
};

std::vector<cut> slices(slicer& s, const source::batch& batch) {
    std::vector<cut> out;
    std::size_t at = 0;
    for (bool done = false; !done;) {
        const auto before = at;
        auto r = s.next(batch, at, 0);
        REQUIRE(r);
        done = r->done;
        CHECK(r->events == at - before);
        cut c;
        if (r->entry) {
            c.first = r->entry->first();
            c.last = r->entry->last();
            CHECK(c.last == r->last);
            CHECK((r->entry->extra_bytes > 0) == (r->events > 0));
        }
        c.had = r->had;
        for (const auto& m : *r->positions)
            c.marks.emplace_back(m.sequence, place_number(m.position));
        for (const auto& m : *r->positions)
            c.in_transaction.push_back(m.position.transaction() != nullptr);
        out.push_back(std::move(c));
    }
    return out;
}

} // namespace

TEST_CASE("slicer: pieces keep to their bounds and events are not divided", "[pipeline][slicer]") {
    auto encoder = std::make_shared<fake_encoder>();
    encoder->tombstone_every = 2;
    slicer s({encoder}, starts({0}), {3, 1 << 20});
    const auto first = slices(s, fake_batch(1, 4, 9));
    REQUIRE(first.size() == 2);
    CHECK(first[0].first == 1);
    CHECK(first[0].last == 3);
    CHECK(first[0].marks == std::vector<std::pair<std::uint64_t, int>>{{1, 1}, {3, 2}});
    CHECK(first[1].first == 4);
    CHECK(first[1].last == 6);
    CHECK(first[1].marks == std::vector<std::pair<std::uint64_t, int>>{{4, 3}, {6, 4}, {6, 9}});
    // Numbers go on; an empty batch has its end only.
    const auto empty = slices(s, fake_batch(10, 9, 12));
    REQUIRE(empty.size() == 1);
    CHECK(empty[0].first == 0);
    CHECK(empty[0].marks == std::vector<std::pair<std::uint64_t, int>>{{6, 12}});
    CHECK(slices(s, fake_batch(13, 13, 0))[0].first == 7);
}

TEST_CASE("slicer: the bound in bytes ends a piece behind the event that reached it",
          "[pipeline][slicer]") {
    auto encoder = std::make_shared<fake_encoder>();
    encoder->padding = 1000;
    slicer s({encoder, encoder}, starts({0}), {1000, 5000});
    const auto list = slices(s, fake_batch(1, 7, 0));
    REQUIRE(list.size() == 3);
    CHECK(list[0].last == 3);
    CHECK(list[1].last == 6);
    CHECK(list[2].last == 7);
}

TEST_CASE("slicer: no piece straddles the start of a sink", "[pipeline][slicer]") {
    slicer s({std::make_shared<fake_encoder>()}, starts({0, 5, 3, 5}), {});
    const auto list = slices(s, fake_batch(1, 8, 0));
    REQUIRE(list.size() == 3);
    CHECK(list[0].last == 3);
    CHECK(list[0].had == std::vector<bool>{false, true, true, true});
    CHECK(list[1].last == 5);
    CHECK(list[1].had == std::vector<bool>{false, true, false, true});
    CHECK(list[2].last == 8);
    CHECK(list[2].had == std::vector<bool>{false, false, false, false});
}

TEST_CASE("slicer: what precedes a bad event comes out first", "[pipeline][slicer]") {
    auto good = std::make_shared<fake_encoder>();
    auto bad = std::make_shared<fake_encoder>();
    bad->bad = 3;
    slicer s({good, bad}, starts({0}), {});
    const fake_batch batch(1, 5, 9);
    std::size_t at = 0;
    const auto before = s.next(batch, at, 0);
    REQUIRE(before);
    CHECK(at == 2);
    REQUIRE(before->entry->encodings.size() == 2);
    CHECK(before->entry->encodings[0]->size() == 2);
    CHECK(before->entry->encodings[1]->size() == 2);
    const auto failed = s.next(batch, at, 0);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == error::errc::bad_data);
}

TEST_CASE("slicer: a transaction's end comes before the next event, or when it is passed",
          "[pipeline][slicer]") {
    using marks = std::vector<std::pair<std::uint64_t, int>>;
    auto encoder = std::make_shared<fake_encoder>();
    encoder->transaction_begin = 2;
    encoder->transaction_end = 3;
    slicer s({encoder, encoder}, starts({0}), {});
    SECTION("the next event") {
        const auto list = slices(s, fake_batch(1, 4, 0));
        REQUIRE(list.size() == 1);
        // Events 1, 2, 3, the end, event 4.
        CHECK(list[0].last == 5);
        CHECK(list[0].marks == marks{{1, 1}, {2, 2}, {3, 3}, {5, 4}});
        CHECK(list[0].in_transaction == std::vector<bool>{false, true, true, false});
    }
    SECTION("the end of the batch") {
        const auto list = slices(s, fake_batch(1, 3, 9));
        REQUIRE(list.size() == 1);
        CHECK(list[0].marks == marks{{1, 1}, {2, 2}, {3, 3}, {4, 9}});
        CHECK(list[0].in_transaction == std::vector<bool>{false, true, true, false});
    }
    SECTION("an empty batch") {
        CHECK(slices(s, fake_batch(1, 3, 0))[0].last == 3);
        const auto list = slices(s, fake_batch(4, 3, 9));
        REQUIRE(list.size() == 1);
        CHECK(list[0].first == 4);
        CHECK(list[0].marks == marks{{4, 9}});
    }
}

TEST_CASE("slicer: who has a transaction's last event may lack its end", "[pipeline][slicer]") {
    auto encoder = std::make_shared<fake_encoder>();
    encoder->transaction_begin = 2;
    encoder->transaction_end = 3;
    // The first sink has event 3 and not the end behind it, the second has stored a later position.
    SECTION("before the next event") {
        slicer s({encoder}, starts({3, 4, 1}), {});
        const auto list = slices(s, fake_batch(1, 5, 0));
        REQUIRE(list.size() == 4);
        CHECK(list[0].had == std::vector<bool>{true, true, true});    // 1
        CHECK(list[1].had == std::vector<bool>{true, true, false});   // 2, 3
        CHECK(list[2].had == std::vector<bool>{false, true, false});  // the end, 4
        CHECK(list[3].had == std::vector<bool>{false, false, false}); // 5
        CHECK(list[2].first == 4);
        CHECK(list[2].last == 5);
    }
    SECTION("at the end of the batch") {
        slicer s({encoder}, starts({3, 9, 1}), {});
        const auto list = slices(s, fake_batch(1, 3, 9));
        REQUIRE(list.size() == 3);
        CHECK(list[2].first == 4);
        CHECK(list[2].last == 4);
        CHECK(list[2].had == std::vector<bool>{false, true, false});
        CHECK(list[1].marks.back().second == 3);
        CHECK(list[2].marks.back().second == 9);
    }
}
