// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sink_conformance.hpp"

#include "core/runtime/blocking_pool.hpp"
#include "tests/support/catch.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>

namespace cdc::test {

namespace {

namespace asio = boost::asio;
using batch_list = std::vector<std::shared_ptr<const event::record_batch>>;
using outcome = error::result<void>;

/// Records that a test makes, with what must be found of them.
class maker {
  public:
    /// A batch of `count` records of `keys` different keys; every seventh is a tombstone.
    std::shared_ptr<const event::record_batch> batch(std::size_t count, std::size_t keys = 5,
                                                     std::size_t padding = 0) {
        event::record_batch_builder b(next_);
        for (std::size_t i = 0; i < count; ++i, ++next_) {
            delivered_record r;
            r.topic = next_ % 3 == 0 ? *other_ : *topic_;
            r.key = R"({"id":)" + std::to_string(next_ % keys) + "}";
            if (next_ % 7 != 0)
                r.value = R"({"n":)" + std::to_string(next_) + R"(,"text":"ü\n\"\u0000)" +
                          std::string(padding, 'x') + "\"}";
            b.begin_event("82");
            b.begin_record(next_ % 3 == 0 ? other_ : topic_, event::operation::create);
            b.buffer() += r.key;
            b.begin_value();
            b.buffer() += r.value.value_or("");
            b.end_record(!r.value);
            expected.push_back(std::move(r));
        }
        return b.finish();
    }

    std::vector<delivered_record> expected;

  private:
    std::uint64_t next_ = 1;
    std::shared_ptr<const std::string> topic_ = std::make_shared<const std::string>("p.db.a");
    std::shared_ptr<const std::string> other_ = std::make_shared<const std::string>("p.db.b");
};

/// One sink on a reactor that the test drives, and all its acknowledgements.
class stage {
  public:
    explicit stage(const sink_subject& subject) {
        sink::context context;
        context.executor = io_.get_executor();
        context.blocking = &blocking_;
        context.connector = "connector";
        context.name = "sink";
        context.acknowledge = [this](std::uint64_t first, std::uint64_t last) {
            take(first, last);
        };
        sink_ = subject.make(std::move(context));
    }
    ~stage() {
        if (!stopped_) {
            try {
                stop();
            } catch (const std::exception& e) {
                faults.push_back(e.what());
            }
        }
    }

    outcome start() { return run(sink_->start()); }
    outcome write(batch_list batches) {
        note(batches);
        return run(sink_->write(std::move(batches)));
    }
    outcome flush() { return run(sink_->flush()); }
    void cancel() {
        cancelled_ = true;
        sink_->cancel();
    }
    void stop() {
        bool done = false;
        auto work = run_stop(done);
        asio::co_spawn(io_, std::move(work), asio::detached);
        until([&] { return done; }, "stop");
        stopped_ = true;
    }

    /// Begins a write and runs the reactor `turns` times.
    void begin_write(batch_list batches, int turns) {
        note(batches);
        begin(sink_->write(std::move(batches)), turns);
    }
    void begin_flush(int turns) { begin(sink_->flush(), turns); }
    /// The outcome of what was begun.
    outcome finish() {
        until([&] { return pending_.has_value(); }, "the call that was begun");
        return *std::exchange(pending_, std::nullopt);
    }

    void until(const std::function<bool()>& condition, const char* what) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{120};
        while (!condition()) {
            if (std::chrono::steady_clock::now() > limit)
                throw std::runtime_error(std::string(what) + " did not come to an end");
            io_.restart();
            io_.run_one_for(std::chrono::milliseconds{5});
        }
    }

    std::set<std::uint64_t> acknowledged;
    std::uint64_t written = 0; ///< the last sequence handed over
    std::vector<std::string> faults;

  private:
    void note(const batch_list& batches) {
        if (!batches.empty())
            written = batches.back()->last_sequence();
    }
    void take(std::uint64_t first, std::uint64_t last) {
        const auto range = std::to_string(first) + ".." + std::to_string(last);
        if (std::this_thread::get_id() != thread_)
            faults.push_back("acknowledged away from the reactor: " + range);
        if (cancelled_)
            faults.push_back("acknowledged after cancel: " + range);
        if (stopped_)
            faults.push_back("acknowledged after stop: " + range);
        if (first > last || first == 0 || last > written)
            faults.push_back("acknowledged what was not written: " + range);
        for (auto s = first; s <= last && s <= written; ++s)
            if (!acknowledged.insert(s).second)
                faults.push_back("acknowledged twice: " + std::to_string(s));
    }
    asio::awaitable<void> run_stop(bool& done) {
        co_await sink_->stop();
        done = true;
    }
    static asio::awaitable<void> keep(asio::awaitable<outcome> work, std::optional<outcome>& to) {
        auto r = co_await std::move(work);
        to = std::move(r);
    }
    outcome run(asio::awaitable<outcome> work) {
        begin(std::move(work), 0);
        return finish();
    }
    void begin(asio::awaitable<outcome> work, int turns) {
        auto kept = keep(std::move(work), pending_);
        asio::co_spawn(io_, std::move(kept), asio::detached);
        io_.restart();
        for (int i = 0; i < turns; ++i)
            io_.poll_one();
    }

    asio::io_context io_{1};
    runtime::blocking_pool blocking_{2};
    std::unique_ptr<sink::sink> sink_;
    std::optional<outcome> pending_;
    std::thread::id thread_ = std::this_thread::get_id();
    bool cancelled_ = false;
    bool stopped_ = false;
};

std::vector<delivered_record> of_key(const std::vector<delivered_record>& all,
                                     const std::string& topic, const std::string& key) {
    std::vector<delivered_record> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out),
                 [&](const auto& r) { return r.topic == topic && r.key == key; });
    return out;
}

/// Everything is there, once, and records of a key are in their order.
void check_delivered(const sink_subject& subject, const std::vector<delivered_record>& expected) {
    if (!subject.delivered)
        return;
    const auto found = subject.delivered();
    REQUIRE(found.size() == expected.size());
    std::set<std::pair<std::string, std::string>> keys;
    for (const auto& r : expected)
        keys.emplace(r.topic, r.key);
    for (const auto& [topic, key] : keys) {
        if (of_key(found, topic, key) != of_key(expected, topic, key))
            FAIL("records of key " << key << " in " << topic << " are not as they were written");
    }
}

void check_all_acknowledged(stage& s) {
    CHECK(s.faults.empty());
    CHECK(s.acknowledged.size() == s.written);
}

} // namespace

void check_sink(const std::function<sink_subject()>& fresh) {
    const sink_subject subject = fresh();
    maker make;

    SECTION("every record is delivered and acknowledged once, keys in order") {
        stage s(subject);
        REQUIRE(s.start());
        for (const std::size_t n : {1, 7, 100, 1, 1000, 2}) {
            REQUIRE(s.write({make.batch(n)}));
            REQUIRE(s.write({make.batch(1), make.batch(n), make.batch(3)}));
        }
        REQUIRE(s.flush());
        check_all_acknowledged(s);
        s.stop();
        check_all_acknowledged(s);
        check_delivered(subject, make.expected);
    }

    SECTION("acknowledgements come without a flush") {
        stage s(subject);
        REQUIRE(s.start());
        for (int i = 0; i < 5; ++i) {
            REQUIRE(s.write({make.batch(10)}));
            s.until([&] { return s.acknowledged.size() == s.written; }, "acknowledging");
        }
        s.stop();
        check_all_acknowledged(s);
        check_delivered(subject, make.expected);
    }

    SECTION("big batches and big records") {
        stage s(subject);
        REQUIRE(s.start());
        REQUIRE(s.write({make.batch(20000, 100), make.batch(3, 5, 3 * 1024 * 1024)}));
        REQUIRE(s.write({make.batch(500, 50, 10000)}));
        REQUIRE(s.flush());
        s.stop();
        check_all_acknowledged(s);
        check_delivered(subject, make.expected);
    }

    SECTION("nothing to do is done at once") {
        stage s(subject);
        REQUIRE(s.start());
        REQUIRE(s.flush());
        REQUIRE(s.write({}));
        REQUIRE(s.flush());
        s.stop();
        CHECK(s.acknowledged.empty());
        CHECK(s.faults.empty());
        check_delivered(subject, {});
    }

    SECTION("stop without start, and right after it") {
        {
            stage s(subject);
            s.stop();
            CHECK(s.faults.empty());
        }
        stage s(subject);
        REQUIRE(s.start());
        s.stop();
        CHECK(s.faults.empty());
    }

    SECTION("a later run goes on behind an earlier one") {
        for (int run = 0; run < 3; ++run) {
            stage s(subject);
            REQUIRE(s.start());
            // A connector numbers its records anew; the destination knows nothing of that.
            maker again;
            REQUIRE(s.write({again.batch(50)}));
            REQUIRE(s.flush());
            s.stop();
            check_all_acknowledged(s);
            make.expected.insert(make.expected.end(), again.expected.begin(), again.expected.end());
        }
        check_delivered(subject, make.expected);
    }

    SECTION("cancel during a write ends it, without later acknowledgements") {
        for (int turns = 0; turns < 6; ++turns) {
            const auto one = fresh();
            maker records;
            stage s(one);
            REQUIRE(s.start());
            REQUIRE(s.write({records.batch(20)}));
            s.begin_write({records.batch(200, 5, 1000), records.batch(200)}, turns);
            s.cancel();
            const auto r = s.finish();
            CHECK((r || r.error().code == error::errc::cancelled));
            const auto after = s.write({records.batch(1)});
            REQUIRE_FALSE(after);
            CHECK(after.error().code == error::errc::cancelled);
            const auto flushed = s.flush();
            REQUIRE_FALSE(flushed);
            CHECK(flushed.error().code == error::errc::cancelled);
            s.stop();
            CHECK(s.faults.empty());
            if (one.delivered) {
                const auto found = one.delivered();
                CHECK(found.size() >= s.acknowledged.size());
                for (const auto sequence : s.acknowledged) {
                    const auto& record = records.expected[sequence - 1];
                    if (record.value) // tombstones of a key look alike
                        CHECK(std::count(found.begin(), found.end(), record) == 1);
                }
            }
        }
    }

    SECTION("cancel during a flush ends it, without later acknowledgements") {
        for (int turns = 0; turns < 4; ++turns) {
            const auto one = fresh();
            maker records;
            stage s(one);
            REQUIRE(s.start());
            REQUIRE(s.write({records.batch(100)}));
            s.begin_flush(turns);
            s.cancel();
            const auto r = s.finish();
            CHECK((r || r.error().code == error::errc::cancelled));
            s.stop();
            CHECK(s.faults.empty());
        }
    }
}

} // namespace cdc::test
