// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/bounded_queue.hpp"
#include "core/runtime/task_group.hpp"
#include "tests/support/catch.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

using namespace cdc::pipeline;
using cdc::error::errc;
namespace asio = boost::asio;

namespace {

std::shared_ptr<const queue_entry> entry(std::uint64_t first, std::size_t records,
                                         std::size_t extra = 0) {
    cdc::event::record_batch_builder b(first);
    const auto topic = std::make_shared<const std::string>("t");
    for (std::size_t i = 0; i < records; ++i) {
        b.begin_event("82");
        b.begin_record(topic, cdc::event::operation::create);
        b.buffer() += "{}";
        b.begin_value();
        b.buffer() += "{}";
        b.end_record(false);
    }
    auto out = std::make_shared<queue_entry>();
    out->encodings.push_back(b.finish());
    out->extra_bytes = extra;
    return out;
}

/// A queue and coroutines around it that write down what happened.
struct bench {
    bench(bounded_queue::limits bounds, std::size_t readers)
        : queue(io.get_executor(), bounds, readers)
        , tasks(io.get_executor(), {}) {}
    ~bench() {
        queue.cancel();
        io.restart();
        io.run();
    }

    void push(std::shared_ptr<const queue_entry> e) {
        tasks.spawn("push", run_push(std::move(e)));
        settle();
    }
    void pop(std::size_t reader, std::size_t max_bytes = 1 << 20) {
        tasks.spawn("pop", run_pop(reader, max_bytes));
        settle();
    }
    /// Runs everything that can run.
    void settle() {
        io.restart();
        io.poll();
    }

    asio::awaitable<void> run_push(std::shared_ptr<const queue_entry> e) {
        auto r = co_await queue.push(std::move(e));
        pushed.push_back(r ? "ok" : std::string(cdc::error::name(r.error().code)));
    }
    asio::awaitable<void> run_pop(std::size_t reader, std::size_t max_bytes) {
        auto r = co_await queue.pop(reader, max_bytes);
        if (!r) {
            popped.push_back(std::string(cdc::error::name(r.error().code)));
            co_return;
        }
        std::string text;
        for (const auto& e : *r)
            text += std::to_string(e->first()) + "-" + std::to_string(e->last()) + " ";
        popped.push_back(text);
    }

    asio::io_context io{1};
    bounded_queue queue;
    cdc::runtime::task_group tasks;
    std::vector<std::string> pushed, popped;
};

using texts = std::vector<std::string>;

} // namespace

TEST_CASE("bounded_queue: entries reach every reader in order and in bulk", "[pipeline][queue]") {
    bench b({1 << 20, 100}, 2);
    b.pop(0);
    CHECK(b.popped.empty());
    b.push(entry(1, 3));
    CHECK(b.popped == texts{"1-3 "});
    b.push(entry(4, 2));
    b.push(entry(6, 1));
    b.pop(0);
    b.pop(1);
    CHECK(b.popped == texts{"1-3 ", "4-5 6-6 ", "1-3 4-5 6-6 "});
    CHECK(b.queue.held().items == 6);
    CHECK(b.queue.held().bytes > 0);
}

TEST_CASE("bounded_queue: pop keeps to its bytes but gives at least one entry",
          "[pipeline][queue]") {
    bench b({1 << 30, 100}, 1);
    b.push(entry(1, 1, 5000));
    b.push(entry(2, 1, 5000));
    b.push(entry(3, 1, 5000));
    b.pop(0, 100);
    b.pop(0, 12000);
    CHECK(b.popped == texts{"1-1 ", "2-2 3-3 "});
}

TEST_CASE("bounded_queue: space is free when the slowest reader has acknowledged",
          "[pipeline][queue]") {
    bench b({1 << 20, 10}, 2);
    b.push(entry(1, 6));
    b.push(entry(7, 4));
    b.push(entry(11, 1));
    CHECK(b.pushed == texts{"ok", "ok"});
    CHECK(b.queue.held().items == 10);
    b.pop(0);
    b.pop(1);
    b.queue.acknowledge(0, 10);
    b.settle();
    CHECK(b.pushed.size() == 2);
    b.queue.acknowledge(1, 5);
    b.settle();
    CHECK(b.pushed.size() == 2);
    b.queue.acknowledge(1, 6);
    b.settle();
    CHECK(b.pushed == texts{"ok", "ok", "ok"});
    CHECK(b.queue.held().items == 5);
    b.queue.acknowledge(0, 11);
    b.queue.acknowledge(1, 11);
    CHECK(b.queue.held().items == 0);
    CHECK(b.queue.held().bytes == 0);
}

TEST_CASE("bounded_queue: the bound in bytes holds, a giant passes alone", "[pipeline][queue]") {
    bench b({10000, 1000}, 1);
    b.push(entry(1, 1, 50000));
    CHECK(b.pushed == texts{"ok"});
    b.push(entry(2, 1));
    CHECK(b.pushed.size() == 1);
    b.pop(0);
    b.queue.acknowledge(0, 1);
    b.settle();
    CHECK(b.pushed == texts{"ok", "ok"});
    b.push(entry(3, 1, 9800));
    CHECK(b.pushed.size() == 2);
    b.queue.acknowledge(0, 2);
    b.settle();
    CHECK(b.pushed.size() == 3);
}

TEST_CASE("bounded_queue: a full queue asks a reader with open records to hurry, once",
          "[pipeline][queue]") {
    bench b({1 << 20, 2}, 2);
    b.push(entry(1, 2));
    b.pop(0);
    b.pop(0);
    CHECK(b.popped == texts{"1-2 "});
    b.push(entry(3, 1));
    CHECK(b.popped == texts{"1-2 ", ""});
    b.pop(0); // no second hint
    CHECK(b.popped.size() == 2);
    b.queue.acknowledge(0, 2);
    b.settle();
    CHECK(b.popped.size() == 2);
    b.pop(1); // the other reader still has something to take
    CHECK(b.popped == texts{"1-2 ", "", "1-2 "});
    b.pop(1);
    CHECK(b.popped.back() == "");
    b.queue.acknowledge(1, 2);
    b.settle();
    CHECK(b.popped.back() == "3-3 ");
}

TEST_CASE("bounded_queue: what was acknowledged beforehand is not handed out",
          "[pipeline][queue]") {
    bench b({1 << 20, 100}, 2);
    b.pop(0);
    b.push(entry(1, 2));
    b.queue.acknowledge(1, 2);
    b.push(entry(3, 2));
    b.pop(1);
    CHECK(b.popped == texts{"1-2 ", "3-4 "});
    CHECK(b.queue.held().items == 4);
}

TEST_CASE("bounded_queue: close lets readers drain, cancel wakes everyone", "[pipeline][queue]") {
    bench b({1 << 20, 2}, 1);
    b.push(entry(1, 2));
    b.push(entry(3, 2));
    b.queue.close();
    b.settle();
    CHECK(b.pushed == texts{"ok", "closed"});
    b.pop(0);
    b.pop(0);
    CHECK(b.popped == texts{"1-2 ", "closed"});

    bench c({1 << 20, 2}, 1);
    c.pop(0);
    c.push(entry(1, 2));
    c.pop(0);
    c.queue.cancel();
    c.settle();
    CHECK(c.popped == texts{"1-2 ", "cancelled"});
    c.push(entry(3, 1));
    CHECK(c.pushed == texts{"ok", "cancelled"});
}
