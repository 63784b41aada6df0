// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "core/bson/builder.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"
#include "sources/mongodb/cursor/namespace_condition.hpp"
#include "tests/support/catch.hpp"

#include <bson/bson.h>
#include <pcre2.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace bson = cdc::bson;
namespace cursor = cdc::mongodb::cursor;
using cdc::mongodb::capture_scope;
using cdc::mongodb::filter_lists;
using cdc::mongodb::filters;

namespace {

std::string json(bson::view v) {
    bson_t b;
    REQUIRE(bson_init_static(&b, v.data(), v.size()));
    char* text = bson_as_relaxed_extended_json(&b, nullptr);
    std::string out = text;
    bson_free(text);
    return out;
}

/// A regex as the server runs it: unanchored search, with its options.
bool search(std::string_view regex, std::string_view options, std::string_view text) {
    struct code_free {
        void operator()(pcre2_code* c) const { pcre2_code_free(c); }
    };
    static std::map<std::string, std::unique_ptr<pcre2_code, code_free>, std::less<>> compiled;
    if (options != "i")
        FAIL("options " << options);
    auto it = compiled.find(regex);
    if (it == compiled.end()) {
        int error = 0;
        PCRE2_SIZE offset = 0;
        auto* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(),
                                   PCRE2_UTF | PCRE2_CASELESS, &error, &offset, nullptr);
        INFO(regex);
        REQUIRE(code);
        it = compiled.emplace(regex, code).first;
    }
    auto* data = pcre2_match_data_create_from_pattern(it->second.get(), nullptr);
    const int rc = pcre2_match(it->second.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                               text.size(), 0, 0, data, nullptr);
    pcre2_match_data_free(data);
    return rc >= 0;
}

struct change {
    std::string type;
    std::string db;
    std::string collection;
};

bool value_matches(const bson::cursor& condition, std::string_view value) {
    if (condition.kind() == bson::type::regex) {
        const auto r = condition.as_regex();
        return search(r.pattern, r.options, value);
    }
    if (condition.kind() != bson::type::string)
        FAIL("neither regex nor text");
    return condition.as_string() == value;
}

/// The subset of `$match` that is sent.
bool server_match(bson::view condition, const change& c) {
    for (bson::cursor e(condition); e.next();) {
        if (e.name() == "$or" || e.name() == "$and" || e.name() == "$nor") {
            bool any = false;
            bool all = true;
            if (e.as_document().empty())
                FAIL("the server refuses empty lists");
            for (bson::cursor part(e.as_document()); part.next();) {
                const bool m = server_match(part.as_document(), c);
                any = any || m;
                all = all && m;
            }
            if (e.name() == "$or" ? !any : e.name() == "$and" ? !all : any)
                return false;
            continue;
        }
        const auto& value = e.name() == "operationType" ? c.type
                            : e.name() == "ns.db"       ? c.db
                                                        : c.collection;
        if (e.name() != "operationType" && e.name() != "ns.db" && e.name() != "ns.coll")
            FAIL("field " << e.name());
        if (e.kind() != bson::type::document) {
            if (!value_matches(e, value))
                return false;
            continue;
        }
        bson::cursor in(e.as_document());
        if (!in.next() || in.name() != "$in")
            FAIL("not $in");
        bool any = false;
        for (bson::cursor part(in.as_document()); part.next();)
            any = any || value_matches(part, value);
        if (!any)
            return false;
    }
    return true;
}

filter_lists include(std::vector<std::string> items) {
    filter_lists lists;
    lists.collection_include = std::move(items);
    return lists;
}

std::string match_of(const filter_lists& lists) {
    const auto f = filters::compile(lists).value();
    return json(cursor::change_match(f));
}

} // namespace

TEST_CASE("the match lets data events and invalidates pass", "[sources][pipeline]") {
    CHECK(match_of({}) ==
          R"({ "$or" : [ { "operationType" : "invalidate" }, { "$and" : [ { "operationType" : )"
          R"({ "$in" : [ "insert", "update", "replace", "delete" ] } } ] } ] })");
    const auto f = filters::compile(include({"a.b"})).value();
    const auto m = cursor::change_match(f);
    CHECK(server_match(m, {"invalidate", "", ""}));
    CHECK(server_match(m, {"insert", "a", "b"}));
    CHECK(server_match(m, {"delete", "A", "B"}));
    CHECK_FALSE(server_match(m, {"drop", "a", "b"}));
    CHECK_FALSE(server_match(m, {"insert", "a", "b2"}));
    CHECK_FALSE(server_match(m, {"insert", "xa", "b"}));
}

TEST_CASE("with events about namespaces they pass whatever they name", "[sources][pipeline]") {
    const auto f = filters::compile(include({"a.b"})).value();
    const auto m = cursor::change_match(f, true);
    for (const char* type : {"drop", "rename", "dropDatabase", "invalidate"})
        CHECK(json(m).find('"' + std::string(type) + '"') != std::string::npos);
    CHECK(json(m).find("createIndexes") == std::string::npos);
}

TEST_CASE("sizes are measured and large events split by stages behind the match",
          "[sources][pipeline]") {
    const auto f = filters::compile({}).value();
    cursor::stream_target target;
    const auto stages = [&](bool split) {
        std::vector<std::string> out;
        const auto opened = cursor::open_change_stream(target, std::monostate{}, f, split);
        for (bson::cursor s(bson::find(opened.command, "pipeline")->as_document()); s.next();)
            out.push_back(json(s.as_document()));
        return out;
    };
    CHECK(stages(false).size() == 2);
    auto got = stages(true);
    REQUIRE(got.size() == 3);
    CHECK(got[2] == R"({ "$changeStreamSplitLargeEvent" : {  } })");
    target.skip_threshold = 1048576;
    got = stages(false);
    REQUIRE(got.size() == 4);
    CHECK(got[2] == R"({ "$addFields" : { "documentSize" : { "$max" : [ { "$bsonSize" : )"
                    R"("$fullDocument" }, { "$bsonSize" : "$fullDocumentBeforeChange" } ] } } })");
    const std::string choice = R"({ "$cond" : [ { "$gt" : [ "$documentSize", 1048576 ] }, )"
                               R"("$$REMOVE", "$)";
    CHECK(got[3] == R"({ "$addFields" : { "fullDocument" : )" + choice +
                        R"(fullDocument" ] }, "fullDocumentBeforeChange" : )" + choice +
                        R"(fullDocumentBeforeChange" ] }, "updateDescription" : )" + choice +
                        R"(updateDescription" ] } } })");
}

TEST_CASE("literals of one database are written together", "[sources][pipeline]") {
    const auto text = match_of(include({"shop.orders", "shop.a.b", "inv.x-1"}));
    CHECK(text.find(R"({ "$or" : [ { "ns.db" : { "$regularExpression" : { "pattern" : "^shop$", )"
                    R"("options" : "i" } }, "ns.coll" : { "$in" : [ { "$regularExpression" : { )"
                    R"("pattern" : "^orders$", "options" : "i" } }, { "$regularExpression" : { )"
                    R"("pattern" : "^a\\.b$", "options" : "i" } } ] } }, { "ns.db" : { )"
                    R"("$regularExpression" : { "pattern" : "^inv$", "options" : "i" } }, )"
                    R"("ns.coll" : { "$regularExpression" : { "pattern" : "^x\\-1$", "options" : )"
                    R"("i" } } } ] })") != std::string::npos);
}

TEST_CASE("regexes over db.coll are split where that is exact", "[sources][pipeline]") {
    struct row {
        const char* item;
        bool exact;
        const char* db;
        const char* collection;
    };
    const row rows[] = {
        {"shop\\.orders.*", true, "^(?:shop)$", "^(?:orders.*)$"},
        {"^shop\\.(a|b)$", true, "^(?:shop)$", "^(?:(a|b))$"},
        {"(eu|us)[0-9]+\\.a\\.b", true, "^(?:(eu|us)[0-9]+)$", "^(?:a\\.b)$"},
        {"[^.]+[.]c", true, "^(?:[^.]+)$", "^(?:c)$"},
        {"\\w+\\.c", true, "^(?:\\w+)$", "^(?:c)$"},
        {".*\\.c", false, nullptr, "^(?:[\\s\\S]*\\.)?(?:c)$"},
        {"shop_.*\\.c", false, "^(?:shop_)", "^(?:[\\s\\S]*\\.)?(?:c)$"},
        {"shop.*", false, "^(?:shop)", nullptr},
        {".*orders", false, nullptr, "(?:orders)$"},
        {"shop[.a].*x", false, "^(?:shop)", "(?:x)$"},
        {"shop\\.?c.*", false, "^(?:shop)", nullptr},
        {"(?i)shop\\.c", false, nullptr, nullptr},
        {"(a)\\.\\1", false, nullptr, nullptr},
        {"\\Qa.b\\E", false, nullptr, nullptr},
        {"(?=a)a\\.b", false, nullptr, nullptr},
        {".*", false, nullptr, nullptr},
    };
    for (const auto& r : rows) {
        INFO(r.item);
        const auto item = cdc::mongodb::pattern::compile(r.item).value();
        const auto found = cursor::conditions_of(item);
        REQUIRE(found.size() == 1);
        CHECK(found[0].implies_item == r.exact);
        CHECK(found[0].db.value_or("-") == (r.db ? r.db : "-"));
        CHECK(found[0].collection.value_or("-") == (r.collection ? r.collection : "-"));
    }
}

TEST_CASE("an unescaped dot also stands for another character", "[sources][pipeline]") {
    auto f = filters::compile(include({"shop.ord.*"})).value();
    const auto m = cursor::change_match(f);
    CHECK(server_match(m, {"insert", "shop", "orders"}));
    CHECK_FALSE(server_match(m, {"insert", "shop", "items"}));
    CHECK_FALSE(server_match(m, {"insert", "other", "orders"}));
    // What the item matches by its letter must come through.
    CHECK(f.wants("shopXord", "y").value());
    CHECK(server_match(m, {"insert", "shopXord", "y"}));
}

TEST_CASE("the server's match never keeps back what the exact check wants", "[sources][pipeline]") {
    std::mt19937 random(20260101);
    const auto one_of = [&](const std::vector<std::string>& of) {
        return of[std::uniform_int_distribution<std::size_t>(0, of.size() - 1)(random)];
    };
    const std::vector<std::string> names = {"a",   "b",   "ab", "abc",  "aXb",
                                            "A",   "a-1", "a1", "x1",   "a b",
                                            "b_c", "aa",  "c",  "ba\n", "\xc3\xa4"};
    const std::vector<std::string> collections = {"a",  "b", "ab",  "a.b", "a.b.c", "b.a", ".a",
                                                  "a1", "c", "b_c", "xbc", "A.B",   "b\n", "c.b"};
    const std::vector<std::string> pieces = {
        "a",      "b",      "c",     "ab",        "\\.",  "\\.",     "\\.",       ".",
        ".*",     "[a-c]",  "[^.]",  "[.]",       "\\w+", "(a|b)",   "(a|b\\.c)", "a?",
        "b*",     "c+",     "x?1",   "[!-z]",     "|",    "(?:b|c)", ".+",        "\\d",
        "\\W",    "a{1,2}", "[^a]*", "\\.?",      "$",    "^",       "(?i)",      "\\-",
        "[\\w.]", "\\.*",   "(.)",   "\xc3\xa4+", "(b|)", "a*?",     "b++"};
    const std::vector<std::string> literals = {"a.b",    "A.b",        "ab.a.b", "a-1.c", "a",
                                               "b_c.a1", "\xc3\x84.c", "a b.a",  "aXb.b"};
    int regex_lists = 0;
    int stricter = 0;
    int passed = 0;
    for (int round = 0; round < 1500; ++round) {
        filter_lists lists;
        bool only_literals = true;
        const auto fill = [&](std::vector<std::string>& list, bool databases) {
            const auto n = std::uniform_int_distribution<int>(1, 3)(random);
            for (int i = 0; i < n; ++i) {
                if (std::uniform_int_distribution<int>(0, 2)(random) == 0) {
                    list.push_back(databases ? one_of(names) : one_of(literals));
                    continue;
                }
                std::string item;
                const auto parts = std::uniform_int_distribution<int>(1, 6)(random);
                for (int p = 0; p < parts; ++p)
                    item += one_of(pieces);
                if (!cdc::mongodb::pattern::compile(item))
                    continue;
                only_literals = only_literals && cdc::mongodb::pattern::is_literal(item);
                list.push_back(item);
            }
        };
        switch (std::uniform_int_distribution<int>(0, 5)(random)) {
        case 0:
            fill(lists.database_include, true);
            break;
        case 1:
            fill(lists.database_exclude, true);
            break;
        case 2:
        case 3:
            fill(lists.collection_include, false);
            break;
        case 4:
            fill(lists.collection_exclude, false);
            break;
        default:
            fill(lists.database_exclude, true);
            fill(lists.collection_include, false);
            break;
        }
        auto f = filters::compile(lists).value();
        const auto m = cursor::change_match(f);
        regex_lists += only_literals ? 0 : 1;
        for (const auto& db : names)
            for (const auto& coll : collections) {
                const bool server = server_match(m, {"update", db, coll});
                const bool here = f.wants(db, coll).value();
                if (here && !server)
                    FAIL("kept back " << db << "." << coll << " by " << json(m));
                // Anchors at the end also match in front of a last line break.
                const bool odd = db.back() == '\n' || coll.back() == '\n';
                if (only_literals && !odd && here != server)
                    FAIL("let through " << db << "." << coll << " by " << json(m));
                stricter += here != server ? 1 : 0;
                passed += here ? 1 : 0;
            }
    }
    // The check above must have had something to check.
    CHECK(regex_lists > 500);
    CHECK(passed > 10000);
    CHECK(stricter > 1000);
}

TEST_CASE("the aggregate of each scope", "[sources][pipeline]") {
    const auto f = filters::compile({}).value();
    const auto head = [&](const cursor::database_command& c) {
        const auto text = json(c.command);
        return c.db + " " + text.substr(0, text.find(", { \"$match\""));
    };
    cursor::stream_target target;
    CHECK(
        head(cursor::open_change_stream(target, std::monostate{}, f)) ==
        R"(admin { "aggregate" : 1, "pipeline" : [ { "$changeStream" : { "allChangesForCluster" : true } })");
    target = {capture_scope::database, "shop", "", true};
    CHECK(
        head(cursor::open_change_stream(target, bson::timestamp{7, 2}, f)) ==
        R"(shop { "aggregate" : 1, "pipeline" : [ { "$changeStream" : { "fullDocument" : "updateLookup", "startAtOperationTime" : { "$timestamp" : { "t" : 7, "i" : 2 } } } })");
    target = {capture_scope::collection, "shop", "a.b", false};
    bson::builder token;
    token.string("_data", "8200").int32("_typeBits", 1);
    const auto t = token.finish();
    CHECK(
        head(cursor::open_change_stream(target, cdc::event::position(t, {7, 1}), f)) ==
        R"(shop { "aggregate" : "a.b", "pipeline" : [ { "$changeStream" : { "resumeAfter" : { "_data" : "8200", "_typeBits" : 1 } } })");
    const auto whole = json(cursor::open_change_stream(target, std::monostate{}, f).command);
    CHECK(whole.ends_with(R"("cursor" : { "batchSize" : 0 } })"));
    const auto probe = cursor::open_probe_stream(target, {7, 1});
    CHECK(
        json(probe.command) ==
        R"({ "aggregate" : "a.b", "pipeline" : [ { "$changeStream" : { "startAtOperationTime" : { "$timestamp" : { "t" : 7, "i" : 1 } } } } ], "cursor" : { "batchSize" : 0 } })");
}
