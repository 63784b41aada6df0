// SPDX-License-Identifier: Apache-2.0
#include "core/bson/builder.hpp"
#include "core/event/control_record.hpp"
#include "core/event/envelope.hpp"
#include "sinks/webhook/record_request.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/event/change_documents.hpp"

#include <memory>
#include <string>

using namespace cdc;

namespace {

constexpr std::int64_t now_ms = 1796020169123;

struct control_event {
    bson::document token = bson::builder{}.string("_data", test::event_token).finish();
    event::control_record control;
    event::change_event event;

    explicit control_event(std::string type) {
        control.topic_suffix = "inventory";
        control.key = "customers";
        control.type = std::move(type);
        control.ns = {"inventory", "customers"};
        event.op = event::operation::control;
        event.operation_type = control.type;
        event.db = "inventory";
        event.collection = "customers";
        event.cluster_time = {1796020168, 5};
        event.resume_token = token;
        event.control = &control;
    }
};

std::shared_ptr<const event::record_batch> encode(const control_event& c, bool with_schemas) {
    event::envelope e{{{"1.2.3", "shop", "rs0"}, with_schemas, true},
                      std::make_shared<event::topic_table>("shop")};
    event::record_batch_builder to{100};
    REQUIRE(e.write(c.event, now_ms, to));
    return to.finish();
}

constexpr std::string_view source =
    R"({"version":"1.2.3","connector":"mongodb","name":"shop",)"
    R"("ts_ms":1796020168000,"snapshot":"false","db":"inventory","sequence":null,)"
    R"("ts_us":1796020168000000,"ts_ns":1796020168000000000,"rs":"rs0",)"
    R"("collection":"customers","ord":5,"lsid":null,"txnNumber":null,"wallTime":null})";

} // namespace

TEST_CASE("a control event is one record on the topic of its database", "[event]") {
    control_event renamed("rename");
    renamed.control.to = {"archive", "old\"customers"};
    const auto batch = encode(renamed, false);
    REQUIRE(batch->size() == 1);
    const event::record r = (*batch)[0];
    CHECK(r.topic == "shop.inventory");
    CHECK(r.key == R"({"id":"customers"})");
    CHECK(r.op == event::operation::control);
    CHECK(r.token == test::event_token);
    CHECK(r.index == 0);
    CHECK(r.sequence == 100);
    REQUIRE(r.value);
    CHECK(*r.value == R"({"source":)" + std::string(source) +
                          R"(,"type":"rename","ns":{"db":"inventory","coll":"customers"},)"
                          R"("to":{"db":"archive","coll":"old\"customers"},)"
                          R"("ts_ms":1796020169123})");
}

TEST_CASE("what a control record lacks is null, and further fields come behind", "[event]") {
    control_event gap("gap");
    gap.control.topic_suffix = "my gap";
    gap.control.key = "";
    gap.control.ns.reset();
    gap.control.more = {{"from", "2026-11-30"}, {"to_time", std::nullopt}};
    const auto batch = encode(gap, false);
    const event::record r = (*batch)[0];
    CHECK(r.topic == "shop.my_gap");
    CHECK(r.key == R"({"id":""})");
    CHECK(*r.value == R"({"source":)" + std::string(source) +
                          R"(,"type":"gap","ns":null,"to":null,"from":"2026-11-30",)"
                          R"("to_time":null,"ts_ms":1796020169123})");
}

TEST_CASE("a control record carries its schema like a data record", "[event]") {
    control_event dropped("dropDatabase");
    dropped.control.ns->collection.reset();
    dropped.control.more = {{"from", "x"}};
    const auto plain = encode(dropped, false);
    const auto with = encode(dropped, true);
    const event::record r = (*with)[0];
    CHECK(r.key == R"({"schema":{"type":"struct","fields":[{"type":"string","optional":false,)"
                   R"("field":"id"}],"optional":false,"name":"shop.inventory.Key"},)"
                   R"("payload":{"id":"customers"}})");
    const std::string name_fields =
        R"({"type":"struct","fields":[{"type":"string","optional":false,"field":"db"},)"
        R"({"type":"string","optional":true,"field":"coll"}],"optional":true,"field":)";
    CHECK(*r.value == R"({"schema":{"type":"struct","fields":[)" +
                          std::string(event::source_info::schema(event::event_shape::current)) +
                          R"(,{"type":"string","optional":false,"field":"type"},)" + name_fields +
                          R"("ns"},)" + name_fields +
                          R"("to"},{"type":"string","optional":true,"field":"from"},)"
                          R"({"type":"int64","optional":true,"field":"ts_ms"}],"optional":false,)"
                          R"("name":"shop.inventory.Control"},"payload":)" +
                          std::string(*(*plain)[0].value) + "}");
    CHECK((*plain)[0].value->find(R"("ns":{"db":"inventory","coll":null},"to":null)") !=
          std::string_view::npos);
}

TEST_CASE("the webhook tells control records from data", "[event][webhook]") {
    const auto batch = encode(control_event("drop"), false);
    const webhook::record_request requests("shop", "hook", std::nullopt, "");
    const auto made = requests.make((*batch)[0], "msg_1");
    REQUIRE(made);
    std::string op;
    for (const auto& [name, value] : made->headers)
        if (name == "x-mongocdc-op")
            op = value;
    CHECK(op == "m");
    CHECK(made->body == *(*batch)[0].value);
}
