// SPDX-License-Identifier: Apache-2.0
// What a byte of a document costs on its way to a line of a file.
#include "core/bson/builder.hpp"
#include "core/event/envelope.hpp"
#include "sinks/file/line_format.hpp"
#include "sources/mongodb/cursor/change_reply.hpp"
#include "sources/mongodb/streaming/decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/event/change_documents.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

using namespace cdc;
using mongodb::streaming::decode;
using test::change_document;

namespace {

constexpr std::size_t reply_bytes = 8 * 1024 * 1024;
constexpr std::size_t all_bytes = 100 * 1024 * 1024;

/// Documents of about `size` bytes that differ in nothing but their number of parts.
bson::document document_of(std::size_t size, std::int32_t id) {
    bson::builder parts;
    std::size_t bytes = 0;
    for (int i = 0; bytes < size; ++i) {
        bson::builder part;
        part.string("name", "a name with \"quotes\" and ümlauts, a few words long")
            .int32("count", i)
            .float64("price", i * 1.25)
            .date_ms("at", 1796020169123 + i)
            .string("text", std::string(120, static_cast<char>('a' + i % 26)));
        const auto done = part.finish();
        bytes += done.size();
        parts.document(std::to_string(i), done);
    }
    return bson::builder{}.int32("_id", id).array("parts", parts.finish()).finish();
}

/// A getMore's reply full of inserts of such documents.
bson::document reply_of(std::size_t size) {
    bson::builder batch;
    std::size_t bytes = 0;
    for (std::int32_t id = 0; bytes < reply_bytes; ++id) {
        const auto change =
            change_document{"insert"}.ns().key(id).full(document_of(size, id)).finish();
        bytes += change.size();
        batch.document(std::to_string(id), change);
    }
    bson::builder cursor;
    cursor.int64("id", 1)
        .string("ns", "inventory.$cmd.aggregate")
        .array("nextBatch", batch.finish());
    return bson::builder{}.document("cursor", cursor.finish()).finish();
}

std::chrono::nanoseconds this_threads_time() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

/// Processor time of this thread for that many bytes of replies.
std::chrono::nanoseconds cost(const bson::document& reply) {
    auto topics = std::make_shared<event::topic_table>("shop");
    event::envelope envelope({{"1.2.3", "shop", "rs0"}, true, true}, topics);
    std::string lines;
    const auto begin = this_threads_time();
    for (std::size_t read = 0; read < all_bytes; read += reply.size()) {
        const auto parsed = mongodb::cursor::change_reply::parse(reply.clone());
        REQUIRE(parsed);
        event::record_batch_builder to{1};
        const auto hand_on = [&] {
            const auto done = to.finish();
            for (std::size_t i = 0; i < done->size(); ++i)
                file::append_line(lines, (*done)[i]);
            lines.clear();
        };
        for (bson::cursor c(parsed->batch); c.next();) {
            const auto e = decode(c.as_document());
            if (!e || !envelope.write(*e, 1796020169123, to))
                FAIL("a change was refused");
            if (to.bytes() >= 1024 * 1024) {
                hand_on();
                to = event::record_batch_builder{1};
            }
        }
        hand_on();
    }
    return this_threads_time() - begin;
}

} // namespace

TEST_CASE("fault 128: the cost of a byte does not grow with the document", "[event][fault-128]") {
    const auto small = reply_of(4 * 1024);
    const auto large = reply_of(250 * 1024);
    // The best of a few: whatever else the machine does can only add.
    auto of_small = std::chrono::nanoseconds::max();
    auto of_large = of_small;
    for (int i = 0; i < 3; ++i) {
        of_small = std::min(of_small, cost(small));
        of_large = std::min(of_large, cost(large));
    }
    INFO(of_small.count() / 1000000 << " ms in small documents, " << of_large.count() / 1000000
                                    << " ms in large ones");
    CHECK(of_large <= of_small * 3 / 2);
}
