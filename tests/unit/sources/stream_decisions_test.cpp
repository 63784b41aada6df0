// SPDX-License-Identifier: Apache-2.0
// The small decisions about streams that need no stream.
#include "core/bson/builder.hpp"
#include "sources/mongodb/cursor/oversize_policy.hpp"
#include "sources/mongodb/cursor/stream_features.hpp"
#include "sources/mongodb/streaming/decoder.hpp"
#include "sources/mongodb/streaming/namespace_event.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/event/change_documents.hpp"

#include <string>

using namespace cdc;
using mongodb::cursor::oversize_mode;
using mongodb::cursor::oversize_policy;
using mongodb::cursor::stream_features;
using kind = stream_features::verdict::kind;

namespace {

error::diagnostics said(int code, std::string text = {}) {
    auto d = error::fail(error::errc::server, "");
    d.server_code = code;
    d.server_text = std::move(text);
    return d;
}

} // namespace

TEST_CASE("in front of an event that is too large events are read one by one", "[sources]") {
    using step = oversize_policy::step;
    for (const auto mode : {oversize_mode::fail, oversize_mode::skip, oversize_mode::split}) {
        oversize_policy p(mode);
        const auto last = mode == oversize_mode::skip ? step::pass_by : step::attempt;
        CHECK(p.batch_size(2048) == 2048);
        CHECK(p.on_too_large() == step::read_singly);
        CHECK(p.batch_size(2048) == 1);
        p.on_progress(false); // one of those in front
        CHECK(p.batch_size(2048) == 1);
        CHECK(p.on_too_large() == last);
        CHECK(p.on_too_large() == last); // again at the same place
        p.on_passed();
        CHECK(p.batch_size(2048) == 2048);
        CHECK(p.on_too_large() == step::read_singly);
        p.on_progress(true); // it is not so large any more
        CHECK(p.batch_size(7) == 7);
    }
}

TEST_CASE("startAfter is given up where a server does not know it", "[sources]") {
    for (const auto& refused :
         {said(40415), said(9), said(72), said(12345, "no such option: startAfter")}) {
        stream_features f(false, false);
        CHECK(f.on_opening_error(refused, false).what == kind::unrelated);
        CHECK(f.start_after());
        CHECK(f.on_opening_error(refused, true).what == kind::open_again);
        CHECK_FALSE(f.start_after());
        CHECK(f.on_opening_error(refused, true).what == kind::unrelated);
        f.on_connected("5.0.1");
        CHECK(f.start_after());
    }
    stream_features f(false, false);
    for (const auto& other : {said(280, "startAfter"), said(286, "startAfter"), said(13), said(18),
                              said(11600), error::fail(error::errc::network, "startAfter")})
        CHECK(f.on_opening_error(other, true).what == kind::unrelated);
    CHECK(f.start_after());
}

TEST_CASE("fault 41: a server that refuses to split, by whatever words, is a failure or a warning",
          "[sources][fault-41]") {
    for (const auto& refused :
         {said(40324, "Unrecognized pipeline stage name"),
          said(303, "Stage not supported yet in native pipeline: $changeStreamSplitLargeEvent"),
          said(168, "$changeStreamSplitLargeEvent is not available")}) {
        stream_features strict(true, false);
        const auto failed = strict.on_opening_error(refused, false);
        CHECK(failed.what == kind::fail);
        CHECK(failed.text.find("cursor.oversize.split.refused") != std::string::npos);
        CHECK(strict.split());

        stream_features lenient(true, true);
        CHECK(lenient.on_opening_error(refused, false).what == kind::open_again);
        CHECK_FALSE(lenient.split());
        // Another version may have it.
        lenient.on_connected("6.0.8");
        CHECK(lenient.split());
        CHECK(lenient.on_opening_error(refused, false).what == kind::open_again);
        lenient.on_connected("6.0.8");
        CHECK_FALSE(lenient.split());
    }
    stream_features f(true, true);
    CHECK(f.on_opening_error(said(286), false).what == kind::unrelated);
    CHECK(f.on_opening_error(said(13), false).what == kind::unrelated);
    CHECK(f.split());
}

TEST_CASE("fault 39: a fragment's position is resumed at by a stream that splits",
          "[sources][fault-39]") {
    stream_features f(false, false);
    const auto refused = said(280, "To resume from a split event, the $changeStream pipeline must "
                                   "include a $changeStreamSplitLargeEvent stage");
    CHECK_FALSE(f.split());
    CHECK(f.on_opening_error(refused, false).what == kind::open_again);
    CHECK(f.split());
    CHECK(f.on_opening_error(refused, false).what == kind::unrelated);
    CHECK(f.on_opening_error(said(280), false).what == kind::unrelated);
}

TEST_CASE("events about namespaces become control records of what is captured", "[sources]") {
    auto f = mongodb::filters::compile({{}, {}, {"shop.orders"}, {}}).value();
    const auto control = [&](const bson::document& change) {
        const auto e = mongodb::streaming::decode(change);
        REQUIRE(e);
        return mongodb::streaming::control_of(*e, change, f);
    };
    const auto named = [](const char* type, const char* coll) {
        return test::change_document{type}.ns("shop", coll).finish();
    };
    auto made = control(named("drop", "orders"));
    REQUIRE(made);
    REQUIRE(*made);
    CHECK((*made)->topic_suffix == "shop");
    CHECK((*made)->key == "orders");
    CHECK((*made)->type == "drop");
    CHECK((*made)->ns->collection == "orders");
    CHECK_FALSE((*made)->to);
    CHECK_FALSE(control(named("drop", "items")).value());

    const auto rename = [](const char* from, const char* to) {
        test::change_document change{"rename"};
        change.ns("shop", from)
            .more()
            .document("to", bson::builder{}.string("db", "shop").string("coll", to).finish());
        return change.finish();
    };
    made = control(rename("items", "orders"));
    REQUIRE(made.value());
    CHECK((*made)->key == "items");
    CHECK((*made)->to->collection == "orders");
    CHECK(control(rename("orders", "items")).value());
    CHECK_FALSE(control(rename("items", "rest")).value());
    CHECK(control(named("rename", "orders")).error().code == error::errc::bad_data);

    const auto drop_database = [](const char* db) {
        test::change_document change{"dropDatabase"};
        change.more().document("ns", bson::builder{}.string("db", db).finish());
        return change.finish();
    };
    made = control(drop_database("shop"));
    REQUIRE(made.value());
    CHECK((*made)->key.empty());
    CHECK_FALSE((*made)->ns->collection);
    CHECK_FALSE(control(drop_database("other")).value());
}

TEST_CASE("a dropped database concerns who could capture of it", "[sources]") {
    struct row {
        mongodb::filter_lists lists;
        bool shop, other;
    };
    const row rows[] = {
        {{{}, {}, {}, {}}, true, true},
        {{{"shop"}, {}, {}, {}}, true, false},
        {{{}, {"shop"}, {}, {}}, false, true},
        {{{}, {}, {"shop\\..*"}, {}}, true, false},
        {{{}, {}, {".*\\.orders"}, {}}, true, true},
        {{{}, {}, {"(sh|x).*\\.a", "o.*\\.b"}, {}}, true, true},
        {{{}, {}, {}, {"shop\\..*"}}, false, true},
        {{{}, {}, {}, {"shop\\.a.*"}}, true, true},
        {{{"shop"}, {}, {"other.a"}, {}}, false, false},
    };
    int n = 0;
    for (const auto& r : rows) {
        INFO("row " << n++);
        auto f = mongodb::filters::compile(r.lists).value();
        for (const auto& [db, wanted] : {std::pair{"shop", r.shop}, {"other", r.other}}) {
            test::change_document change{"dropDatabase"};
            change.more().document("ns", bson::builder{}.string("db", db).finish());
            const auto document = change.finish();
            const auto made =
                mongodb::streaming::control_of(*mongodb::streaming::decode(document), document, f);
            REQUIRE(made);
            CHECK(made->has_value() == wanted);
        }
    }
}
