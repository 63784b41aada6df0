// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/event/envelope.hpp"
#include "core/event/transaction_context.hpp"
#include "sources/mongodb/streaming/decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/standin/recording.hpp"
#include "tests/support/test_data.hpp"

#include <simdjson.h>

#include <fstream>
#include <string>
#include <vector>

using namespace cdc;
using test::standin::from_json;

namespace {

/// The change events of a recording, in order.
std::vector<bson::document> events_of(const std::string& recording) {
    std::ifstream file{test::data_path("recordings/" + recording + ".jsonl")};
    std::vector<bson::document> out;
    for (std::string line; std::getline(file, line);) {
        const auto row = from_json(line);
        if (const auto event = bson::find(row, "event"))
            out.push_back(bson::document::copy_of(event->as_document()));
    }
    return out;
}

event::envelope::options options(bool schemas = false) {
    event::envelope::options out;
    out.connector = {"1.2.3", "shop", "rs0"};
    out.with_schemas = schemas;
    out.transactions = true;
    return out;
}

/// What is written of changes, the ends of transactions in between, as one line a record:
/// "BEGIN 96", "END 96 7 a=5 b=2", "c a 1/1", "c -" outside a transaction.
class writer {
  public:
    explicit writer(event::envelope::options o = options())
        : envelope_(std::move(o), std::make_shared<event::topic_table>("shop")) {}

    void write(const bson::document& change) {
        const auto event = mongodb::streaming::decode(change);
        REQUIRE(event);
        if (envelope_.transaction().is_over_before(*event))
            envelope_.write_transaction_end(builder_);
        REQUIRE(envelope_.write(*event, 1, builder_));
    }
    void pass(const event::position& end) {
        if (envelope_.transaction().is_passed_by(end))
            envelope_.write_transaction_end(builder_);
    }
    event::transaction_context& transaction() { return envelope_.transaction(); }

    std::vector<std::string> lines() {
        const auto batch = builder_.finish();
        std::vector<std::string> out;
        simdjson::dom::parser parser;
        for (std::size_t i = 0; i < batch->size(); ++i) {
            const auto r = (*batch)[i];
            indices.push_back(r.index);
            tokens.emplace_back(r.token);
            if (!r.value) {
                out.emplace_back("tombstone");
                continue;
            }
            simdjson::dom::element value = parser.parse(std::string{*r.value});
            out.push_back(r.topic == "shop.transaction" ? of_transaction(value) : of_event(value));
        }
        return out;
    }
    std::vector<std::uint32_t> indices;
    std::vector<std::string> tokens;

  private:
    static std::string number_of(std::string_view id) {
        return std::string{id.substr(id.rfind(':') + 1)};
    }
    static std::string of_transaction(simdjson::dom::element value) {
        std::string out{std::string_view{value["status"]}};
        out += " " + number_of(value["id"]);
        if (value["event_count"].is_null()) {
            CHECK(value["data_collections"].is_null());
            return out;
        }
        out += " " + std::to_string(std::int64_t{value["event_count"]});
        for (simdjson::dom::element c : value["data_collections"]) {
            const std::string_view name = c["data_collection"];
            out += " " + std::string{name.substr(name.find('.') + 1)} + "=" +
                   std::to_string(std::int64_t{c["event_count"]});
        }
        return out;
    }
    static std::string of_event(simdjson::dom::element value) {
        std::string out{std::string_view{value["op"]}};
        simdjson::dom::element block = value["transaction"];
        if (block.is_null())
            return out + " -";
        return out + " " + std::string{std::string_view{value["source"]["collection"]}} + " " +
               std::to_string(std::int64_t{block["total_order"]}) + "/" +
               std::to_string(std::int64_t{block["data_collection_order"]}) + " of " +
               number_of(block["id"]);
    }

    event::envelope envelope_;
    event::record_batch_builder builder_{1};
};

using lines = std::vector<std::string>;

const lines of_recording = {"c -",
                            "c -",
                            "BEGIN 96",
                            "c a 1/1 of 96",
                            "c a 2/2 of 96",
                            "u b 3/1 of 96",
                            "c a 4/3 of 96",
                            "c a 5/4 of 96",
                            "u b 6/2 of 96",
                            "d a 7/5 of 96",
                            "tombstone",
                            "END 96 7 a=5 b=2",
                            "c -"};

} // namespace

TEST_CASE("fault 78: a recorded transaction has its begin, places and end; an aborted one nothing",
          "[event][transaction][fault-78]") {
    writer w;
    for (const auto& change : events_of("transactions"))
        w.write(change);
    CHECK(w.lines() == of_recording);
    // What tells records of an event apart, in every run alike.
    CHECK(w.indices == std::vector<std::uint32_t>{0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0});
    CHECK(w.tokens[2] == w.tokens[3]);  // BEGIN and its first event
    CHECK(w.tokens[11] == w.tokens[9]); // END and its last
}

TEST_CASE("fault 77: a transaction over several oplog entries and cluster times is one",
          "[event][transaction][fault-77]") {
    auto changes = events_of("large_transaction");
    REQUIRE(changes.size() == 6);
    SECTION("as recorded") {
        writer w;
        for (const auto& change : changes)
            w.write(change);
        w.pass({from_json(R"({"_data": "826B0D17C8000000072B0229296E04"})").view(), {}});
        CHECK(w.lines() == lines{"c -", "BEGIN 100", "c a 1/1 of 100", "c a 2/2 of 100",
                                 "c a 3/3 of 100", "c a 4/4 of 100", "c a 5/5 of 100",
                                 "END 100 5 a=5"});
    }
    SECTION("with another cluster time for each event") {
        writer w;
        for (std::uint32_t i = 0; i < changes.size(); ++i) {
            bson::builder b;
            for (bson::cursor c{changes[i]}; c.next();) {
                if (c.name() == "clusterTime")
                    b.timestamp("clusterTime", {1796020168 + i, 1});
                else
                    b.value(c.name(), c);
            }
            w.write(b.finish());
        }
        CHECK(w.lines() == lines{"c -", "BEGIN 100", "c a 1/1 of 100", "c a 2/2 of 100",
                                 "c a 3/3 of 100", "c a 4/4 of 100", "c a 5/5 of 100"});
        CHECK(w.transaction().open());
    }
}

TEST_CASE("a transaction is over when the position has passed it, without another event",
          "[event][transaction]") {
    const auto changes = events_of("transactions");
    writer w;
    for (std::size_t i = 2; i < 9; ++i)
        w.write(changes[i]);
    const auto own = mongodb::streaming::decode(changes[8]);
    // The token of its last event, and a high-water token of its own time, which is in front of it.
    w.pass({own->resume_token, own->cluster_time});
    w.pass({from_json(R"({"_data": "826B0D17C7000000052B0229296E04"})").view(), {}});
    CHECK(w.transaction().open());
    w.pass({from_json(R"({"_data": "826B0D17C7000000062B0229296E04"})").view(), {}});
    CHECK_FALSE(w.transaction().open());
    const auto got = w.lines();
    CHECK(got.front() == "BEGIN 96");
    CHECK(got.back() == "END 96 7 a=5 b=2");
}

TEST_CASE("numbers go on behind a restart at any event of a transaction", "[event][transaction]") {
    const auto changes = events_of("transactions");
    for (std::size_t stop = 0; stop <= changes.size(); ++stop) {
        writer before;
        std::shared_ptr<const std::string> saved;
        for (std::size_t i = 0; i < stop; ++i)
            before.write(changes[i]);
        // What is stored is a position, as text.
        if (stop > 0) {
            const auto event = mongodb::streaming::decode(changes[stop - 1]);
            event::position at{event->resume_token, event->cluster_time};
            at.set_transaction(before.transaction().save());
            const auto again = event::position::from_json(at.to_json());
            REQUIRE(again);
            saved = again->transaction();
        }
        writer after;
        if (saved)
            REQUIRE(after.transaction().restore(*saved));
        for (std::size_t i = stop; i < changes.size(); ++i)
            after.write(changes[i]);
        auto all = before.lines();
        const auto rest = after.lines();
        all.insert(all.end(), rest.begin(), rest.end());
        CHECK(all == of_recording);
    }
}

TEST_CASE("counts are of what was written", "[event][transaction]") {
    // The updates of the recording set `n`.
    auto o = options();
    auto rules = event::field_rules::compile({"*.b.n", "*.a.nothing"}, {});
    REQUIRE(rules);
    o.fields = std::make_shared<event::field_rules>(std::move(*rules));
    o.skip_without_change = true;
    writer w{o};
    for (const auto& change : events_of("transactions"))
        w.write(change);
    auto got = w.lines();
    CHECK(std::ranges::count(got, "END 96 5 a=5") == 1);
    CHECK(std::ranges::count(got, "BEGIN 96") == 1);
    CHECK(std::ranges::count(got, "c a 3/3 of 96") == 1);
}

TEST_CASE("a saved transaction that nothing has written is refused", "[event][transaction]") {
    event::transaction_context context;
    for (const char* text : {"", "x", "BQAAAAA=", "AAAA"}) {
        const auto restored = context.restore(text);
        REQUIRE_FALSE(restored);
        CHECK(restored.error().code == error::errc::state_invalid);
    }
    CHECK_FALSE(context.open());
}
