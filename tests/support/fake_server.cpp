// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_server.hpp"

#include "core/bson/builder.hpp"
#include "core/runtime/wake_slot.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace cdc::test {

namespace asio = boost::asio;

namespace {

bson::document ok_reply() {
    return bson::builder().float64("ok", 1.0).finish();
}

bson::document make_batch(std::size_t events, std::size_t event_bytes) {
    bson::builder batch;
    for (std::size_t i = 0; i < events; ++i) {
        const auto event = bson::builder()
                               .int64("n", static_cast<std::int64_t>(i))
                               .string("pad", std::string(event_bytes, 'x'))
                               .finish();
        batch.document(std::to_string(i), event);
    }
    const auto cursor = bson::builder()
                            .array("nextBatch", batch.finish())
                            .int64("id", 4711)
                            .string("ns", "db.$cmd.aggregate")
                            .finish();
    return bson::builder().document("cursor", cursor).float64("ok", 1.0).finish();
}

} // namespace

class fake_server::session final : public wire::session {
  public:
    session(fake_server& owner, asio::any_io_executor reactor)
        : owner_(owner)
        , wake_(std::move(reactor)) {}

    asio::awaitable<wire::answer> handle(wire::request r) override {
        while (owner_.silent_ && !gone_)
            co_await wake_.wait_for(std::chrono::milliseconds(5));
        wire::answer a;
        if (gone_)
            co_return a;
        std::function<std::optional<bson::document>(const wire::request&)> hook;
        {
            const std::lock_guard lock(owner_.mutex_);
            hook = owner_.hook_;
        }
        if (hook)
            a.reply = hook(r);
        if (a.reply)
            co_return a;
        if (r.command == "isMaster" || r.command == "ismaster" || r.command == "hello") {
            ++owner_.hellos_;
            if (r.legacy)
                ++owner_.legacy_hellos_;
            a.reply = owner_.hello();
        } else if (r.command == "getMore") {
            ++owner_.get_mores_;
            if (owner_.options_.latency.count() > 0)
                co_await wake_.wait_for(owner_.options_.latency);
            a.reply = owner_.batch_.clone();
        } else if (r.command == "aggregate") {
            const auto cursor = bson::builder()
                                    .array("firstBatch", bson::document())
                                    .int64("id", 4711)
                                    .string("ns", "db.$cmd.aggregate")
                                    .finish();
            a.reply = bson::builder().document("cursor", cursor).float64("ok", 1.0).finish();
        } else {
            if (r.command == "endSessions")
                ++owner_.end_sessions_;
            a.reply = ok_reply();
        }
        co_return a;
    }

    void closed() noexcept override {
        gone_ = true;
        wake_.notify();
    }

  private:
    fake_server& owner_;
    runtime::wake_slot wake_;
    bool gone_ = false;
};

fake_server::fake_server(options o)
    : options_(std::move(o))
    , batch_(make_batch(options_.events_per_batch, options_.event_bytes))
    , primary_(options_.primary) {
    server_ = std::make_unique<wire::server>(
        [this](asio::any_io_executor reactor) {
            return std::make_unique<session>(*this, std::move(reactor));
        },
        static_cast<std::uint16_t>(0), options_.tls);
}

void fake_server::set_hosts(std::vector<std::string> hosts) {
    const std::lock_guard lock(mutex_);
    hosts_ = std::move(hosts);
}

void fake_server::on_command(
    std::function<std::optional<bson::document>(const wire::request&)> hook) {
    const std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
}

bson::document fake_server::hello() const {
    const std::lock_guard lock(mutex_);
    bson::builder hosts;
    if (hosts_.empty())
        hosts.string("0", server_->host_port());
    for (const auto& h : hosts_)
        hosts.string(std::to_string(hosts.count()), h);
    bson::builder b;
    b.array("hosts", hosts.finish())
        .string("setName", options_.set_name)
        .int32("setVersion", 1)
        .boolean("ismaster", primary_)
        .boolean("secondary", !primary_)
        .string("me", server_->host_port())
        .int32("maxBsonObjectSize", 16777216)
        .int32("maxMessageSizeBytes", 48000000)
        .int32("maxWriteBatchSize", 100000)
        .date_ms("localTime", 1)
        .int32("logicalSessionTimeoutMinutes", 30)
        .int32("minWireVersion", 0)
        .int32("maxWireVersion", 9)
        .boolean("readOnly", false)
        .float64("ok", 1.0);
    return b.finish();
}

} // namespace cdc::test
