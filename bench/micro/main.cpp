// SPDX-License-Identifier: Apache-2.0
// What making a record costs, beside libbson's JSON writer on the same documents. One thread, CPU
// time of that thread. Prints a table; see bench/README.md.
#include "core/event/envelope.hpp"
#include "sources/mongodb/streaming/decoder.hpp"

#include "bench/documents/generator.hpp"
#include <bson/bson.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace cdc;

// As core/main.cpp sets them, for both writers.
void set_allocator() {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
}

constexpr std::size_t rounds = 5;
constexpr double seconds_a_round = 0.5;
// Limits of a batch, as the pipeline cuts them.
constexpr std::size_t batch_records = 512;
constexpr std::size_t batch_bytes = 1024 * 1024;

struct corpus {
    std::vector<bson::document> orders;
    std::vector<bson::document> changes;
    std::size_t order_bytes = 0;
};

corpus make_corpus(std::size_t size) {
    corpus out;
    bench::generator from{size};
    const std::size_t count = std::max<std::size_t>(64, (std::size_t{4} << 20) / size);
    for (std::size_t i = 0; i < count; ++i) {
        out.orders.push_back(from.order(size));
        out.changes.push_back(from.insert_event(out.orders.back(), "shop", "orders"));
        out.order_bytes += out.orders.back().size();
    }
    return out;
}

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Writes every document of the corpus once; returns the bytes of JSON.
using writing = std::function<std::size_t(const corpus&)>;

class records {
  public:
    explicit records(bool schemas)
        : envelope_({{"0.0.0", "bench", "rs0"}, schemas, true},
                    std::make_shared<event::topic_table>("bench")) {}

    std::size_t operator()(const corpus& c) {
        std::size_t bytes = 0;
        std::size_t at = 0;
        while (at < c.changes.size()) {
            event::record_batch_builder to{1};
            while (at < c.changes.size() && to.size() < batch_records && to.bytes() < batch_bytes) {
                const auto change = mongodb::streaming::decode(c.changes[at++]);
                if (!change || !envelope_.write(*change, 1700000000000, to))
                    throw std::runtime_error("an event was refused");
            }
            bytes += to.bytes();
            last_ = to.finish();
        }
        return bytes;
    }

  private:
    event::envelope envelope_;
    // A sink holds a batch while the next one is made.
    std::shared_ptr<const event::record_batch> last_;
};

std::size_t libbson_relaxed(const corpus& c) {
    std::size_t bytes = 0;
    for (const auto& order : c.orders) {
        bson_t doc;
        std::size_t size = 0;
        if (!bson_init_static(&doc, order.view().data(), order.size()))
            throw std::runtime_error("libbson refused a document");
        char* text = bson_as_relaxed_extended_json(&doc, &size);
        if (!text)
            throw std::runtime_error("libbson could not write a document");
        bytes += size;
        bson_free(text);
    }
    return bytes;
}

struct way {
    const char* name;
    writing write;
    std::vector<double> seconds; ///< CPU a document, one for each round
    std::size_t json_bytes = 0;
};

double measure(way& w, const corpus& c) {
    std::size_t passes = 0;
    const double begin = thread_seconds();
    double used = 0;
    while (used < seconds_a_round) {
        w.json_bytes = w.write(c);
        ++passes;
        used = thread_seconds() - begin;
    }
    return used / static_cast<double>(passes * c.changes.size());
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void run(std::size_t size) {
    const corpus c = make_corpus(size);
    const double mean = static_cast<double>(c.order_bytes) / static_cast<double>(c.orders.size());
    records plain{false};
    records with_schemas{true};
    std::vector<way> ways{{"mongocdc: record, no schema", std::ref(plain), {}},
                          {"mongocdc: record with schema", std::ref(with_schemas), {}},
                          {"libbson: relaxed JSON of fullDocument", libbson_relaxed, {}}};
    for (auto& w : ways)
        w.write(c); // what grows once has grown
    std::vector<double> ratios;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (auto& w : ways)
            w.seconds.push_back(measure(w, c));
        ratios.push_back(ways.back().seconds.back() / ways.front().seconds.back());
    }
    std::printf("\ndocuments of %.0f bytes (%zu of them)\n", mean, c.orders.size());
    std::printf("  %-38s %10s %10s %9s %8s %10s\n", "", "ns/doc", "docs/s", "MB/s BSON", "spread",
                "JSON bytes");
    for (const auto& w : ways) {
        const double mid = median(w.seconds);
        const auto [low, high] = std::minmax_element(w.seconds.begin(), w.seconds.end());
        std::printf("  %-38s %10.0f %10.0f %9.0f %7.1f%% %10.0f\n", w.name, mid * 1e9, 1 / mid,
                    mean / mid / 1e6, (*high - *low) / mid * 100,
                    static_cast<double>(w.json_bytes) / static_cast<double>(c.changes.size()));
    }
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    std::printf("  record without schema: %.2f times as fast as libbson (%.2f to %.2f)\n",
                median(ratios), *low, *high);
}

} // namespace

int main(int argc, char** argv) {
    set_allocator();
    std::vector<std::size_t> sizes{300, 2000, 20000};
    if (argc > 1)
        sizes.assign({std::strtoul(argv[1], nullptr, 10)});
    std::printf("medians of %zu interleaved rounds of %.1f s CPU; libbson %s\n", rounds,
                seconds_a_round, bson_get_version());
    for (const std::size_t size : sizes)
        run(size);
    return 0;
}
