// SPDX-License-Identifier: Apache-2.0
// Reads a change stream with the service's driver and only counts: what the service cannot be
// cheaper than.
//   drain_main URI T I EVENTS
// Prints one line of JSON.
#include "core/bson/builder.hpp"
#include "core/runtime/blocking_pool.hpp"
#include "core/runtime/reactor.hpp"
#include "sources/mongodb/client/client.hpp"
#include "sources/mongodb/client/driver.hpp"
#include "sources/mongodb/cursor/change_pipeline.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <malloc.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace cdc;
namespace asio = boost::asio;

// As the service asks by default (max.batch.size).
constexpr std::int32_t batch_size = 2048;

struct counted {
    std::size_t events = 0;
    std::size_t bytes = 0;
    std::string last_token;
};

template <class T>
T value_of(error::result<T> from) {
    if (!from)
        throw std::runtime_error(from.error().text);
    return std::move(*from);
}

asio::awaitable<void> read(mongodb::client::client& from, bson::timestamp begin, std::size_t events,
                           counted& into) {
    auto server = co_await from.connect();
    value_of(std::move(server));
    mongodb::filters all = value_of(mongodb::filters::compile({}));
    mongodb::cursor::stream_target target;
    auto aggregate = mongodb::cursor::open_change_stream(target, begin, all);
    auto opened = co_await from.command(std::move(aggregate.db), std::move(aggregate.command));
    const bson::document first = value_of(std::move(opened));
    const auto id = bson::find_path(first, "cursor.id");
    const auto ns = bson::find_path(first, "cursor.ns");
    if (!id || !ns)
        throw std::runtime_error("a reply without a cursor");
    const std::string full{ns->as_string()};
    const std::string db = full.substr(0, full.find('.'));
    const std::string collection = full.substr(db.size() + 1);
    while (into.events < events) {
        auto more = bson::builder()
                        .int64("getMore", id->as_int64())
                        .string("collection", collection)
                        .int32("batchSize", batch_size)
                        .finish();
        auto answer = co_await from.command(db, std::move(more));
        const bson::document reply = value_of(std::move(answer));
        const auto batch = bson::find_path(reply, "cursor.nextBatch");
        if (!batch)
            throw std::runtime_error("a reply without a batch");
        bson::view last;
        for (bson::cursor at{batch->as_document()}; at.next(); ++into.events) {
            last = at.as_document();
            into.bytes += last.size();
        }
        if (into.events >= events)
            into.last_token = bson::find_path(last, "_id._data")->as_string();
    }
}

/// Reads, and stops the client whatever happens.
asio::awaitable<std::exception_ptr> drain(mongodb::client::client& from, bson::timestamp begin,
                                          std::size_t events, counted& into) {
    std::exception_ptr failure;
    try {
        co_await read(from, begin, events, into);
    } catch (...) {
        failure = std::current_exception();
    }
    co_await from.stop();
    co_return failure;
}

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: %s URI T I EVENTS\n", argv[0]);
        return 2;
    }
    // As core/main.cpp.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 128 << 20);
    try {
        const mongodb::client::driver driver{log::logger{}};
        runtime::reactor reactor{"drain"};
        runtime::blocking_pool blocking{1};
        const auto number = [&](int i) { return std::strtoul(argv[i], nullptr, 10); };
        const bson::timestamp begin{static_cast<std::uint32_t>(number(2)),
                                    static_cast<std::uint32_t>(number(3)) + 1};
        mongodb::client::client_options options;
        options.uri = argv[1];
        auto opened =
            asio::co_spawn(reactor.executor(),
                           mongodb::client::client::open(reactor.executor(), blocking, options, {}),
                           asio::use_future)
                .get();
        auto client = value_of(std::move(opened));
        counted out;
        const auto started = std::chrono::steady_clock::now();
        const auto failure = asio::co_spawn(reactor.executor(),
                                            drain(*client, begin, number(4), out), asio::use_future)
                                 .get();
        if (failure)
            std::rethrow_exception(failure);
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
        std::printf(R"({"events": %zu, "bytes": %zu, "wall": %.3f, "cpu": %.3f, "last": "%s"})"
                    "\n",
                    out.events, out.bytes, wall.count(), cpu_seconds(), out.last_token.c_str());
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 1;
    }
    return 0;
}
