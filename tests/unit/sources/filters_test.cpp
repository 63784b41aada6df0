// SPDX-License-Identifier: Apache-2.0
#include "sources/mongodb/filters.hpp"
#include "tests/support/catch.hpp"

using cdc::mongodb::filter_lists;
using cdc::mongodb::filters;

namespace {

filters make(const filter_lists& lists) {
    return filters::compile(lists).value();
}

std::string error_of(const filter_lists& lists) {
    const auto r = filters::compile(lists);
    REQUIRE_FALSE(r);
    CHECK(r.error().code == cdc::error::errc::configuration);
    return r.error().text;
}

} // namespace

TEST_CASE("without lists everything but the server's own is wanted", "[sources][filters]") {
    auto f = make({});
    CHECK(f.wants("a", "b").value());
    for (const auto* db : {"local", "admin", "config"})
        CHECK_FALSE(f.wants(db, "c").value());
    CHECK_FALSE(f.wants("a", "system.views").value());
    CHECK(f.wants("a", "systems").value());
    CHECK(f.wants("locals", "c").value());
}

TEST_CASE("the server's own is never wanted, also when included", "[sources][filters]") {
    filter_lists lists;
    lists.database_include = {"admin", "local", ".*"};
    lists.collection_include = {".*"};
    auto f = make(lists);
    CHECK_FALSE(f.wants("admin", "c").value());
    CHECK_FALSE(f.wants("local", "oplog.rs").value());
    CHECK_FALSE(f.wants("a", "system.buckets.x").value());
    CHECK(f.wants("a", "x").value());
}

TEST_CASE("database and collection lists must agree", "[sources][filters]") {
    filter_lists lists;
    lists.database_include = {" shop ", "", "inv.*"};
    lists.collection_exclude = {"shop.secret", ".*\\.tmp_.*"};
    auto f = make(lists);
    CHECK(f.wants("shop", "orders").value());
    CHECK(f.wants("SHOP", "orders").value());
    CHECK(f.wants("inventory", "x").value());
    CHECK_FALSE(f.wants("other", "x").value());
    CHECK_FALSE(f.wants("shop", "secret").value());
    CHECK_FALSE(f.wants("shop", "Secret").value());
    CHECK(f.wants("shop", "secret2").value());
    CHECK_FALSE(f.wants("inventory", "tmp_1").value());
    CHECK(f.wants("inventory", "1tmp_1").value());

    filter_lists others;
    others.database_exclude = {"shop"};
    others.collection_include = {"shop.orders", "inv.b.c.d"};
    auto g = make(others);
    CHECK_FALSE(g.wants("shop", "orders").value());
    CHECK(g.wants("inv", "b.c.d").value());
    CHECK_FALSE(g.wants("inv", "b.c").value());
    CHECK_FALSE(g.wants("inv", "bxc.d").value());
}

TEST_CASE("dots in a collection's name are matched by literals and escaped regexes alike",
          "[sources][filters]") {
    for (const auto* item : {"a.b.c.d", "a\\.b\\.c\\.d"}) {
        filter_lists lists;
        lists.collection_include = {item};
        auto f = make(lists);
        CHECK(f.wants("a", "b.c.d").value());
        CHECK_FALSE(f.wants("a", "b.c").value());
    }
}

TEST_CASE("answers stay right when more namespaces come than are remembered",
          "[sources][filters]") {
    filter_lists lists;
    lists.collection_include = {"d\\.c[0-9]*5"};
    auto f = make(lists);
    for (int round = 0; round < 2; ++round)
        for (std::size_t i = 0; i < filters::cache_capacity + 10; ++i)
            if (f.wants("d", "c" + std::to_string(i)).value() != (i % 10 == 5))
                FAIL("wrong answer for " << i);
    CHECK(f.wants("d", "c15").value());
}

TEST_CASE("wrong lists are refused naming option and item", "[sources][filters]") {
    filter_lists lists;
    lists.collection_include = {"a.b", "a\\.(b"};
    const auto text = error_of(lists);
    CHECK(text.find("collection.include.list") != std::string::npos);
    CHECK(text.find("'a\\.(b'") != std::string::npos);

    filter_lists both_databases;
    both_databases.database_include = {"a"};
    both_databases.database_exclude = {"b"};
    CHECK(error_of(both_databases).find("database.exclude.list") != std::string::npos);
    filter_lists both_collections;
    both_collections.collection_include = {"a.b"};
    both_collections.collection_exclude = {"b.c"};
    CHECK(error_of(both_collections).find("collection.include.list") != std::string::npos);
}

TEST_CASE("a pattern that explodes is an error naming it, not an answer", "[sources][filters]") {
    filter_lists lists;
    lists.collection_exclude = {"(a+a+)+[bc]"};
    auto f = make(lists);
    const auto r = f.wants(std::string(60, 'a'), "c");
    REQUIRE_FALSE(r);
    CHECK(r.error().text.find("collection.exclude.list: item '(a+a+)+[bc]' cannot be matched") !=
          std::string::npos);
}
