// SPDX-License-Identifier: Apache-2.0
// A stand-in replica set that fills its history with inserts when told to, and then serves it.
//   server_main EVENTS DOCUMENT_BYTES
// Prints its URI; at a line on standard input inserts, and prints "loaded T I", the cluster time
// before the first insert; ends with standard input.
#include "core/bson/builder.hpp"
#include "tests/support/standin/replica_set.hpp"

#include "bench/documents/generator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

using namespace cdc;

void load(test::standin::replica_set& set, std::size_t events, std::size_t size) {
    bench::generator from{1};
    constexpr std::size_t bulk = 1000;
    for (std::size_t done = 0; done < events;) {
        bson::builder documents;
        const std::size_t count = std::min(bulk, events - done);
        for (std::size_t i = 0; i < count; ++i)
            documents.document(std::to_string(i), from.order(size));
        const auto list = documents.finish();
        const auto command =
            bson::builder().string("insert", "orders").array("documents", list).finish();
        const auto reply = set.run("shop", command);
        const auto inserted = bson::find(reply, "n");
        if (!inserted || inserted->as_integer() != static_cast<std::int64_t>(count))
            throw std::runtime_error("the stand-in refused an insert");
        done += count;
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s EVENTS DOCUMENT_BYTES\n", argv[0]);
        return 2;
    }
    try {
        test::standin::replica_set set;
        std::cout << set.uri() << std::endl;
        std::string line;
        if (!std::getline(std::cin, line))
            return 0;
        const auto before = set.last_time();
        load(set, std::strtoul(argv[1], nullptr, 10), std::strtoul(argv[2], nullptr, 10));
        std::cout << "loaded " << before.t << ' ' << before.i << std::endl;
        while (std::getline(std::cin, line)) {
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 1;
    }
    return 0;
}
