// SPDX-License-Identifier: Apache-2.0
// A whole connector, from the server to a file and positions in SQLite, with its connection cut.
#include "core/app/connector.hpp"
#include "core/app/registry.hpp"
#include "core/config/loader.hpp"
#include "core/offset/sqlite_store.hpp"
#include "tests/integration/cuts/cut_stage.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/driver_fixture.hpp"
#include "tests/support/test_data.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace cdc;
using namespace cdc::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t stages_at_a_time = 16;

/// A line of the file as cut_stage writes changes: "insert 7 13".
std::string change_of(const std::string& line) {
    const auto behind = [&line](std::string_view mark, const char* until) {
        const auto at = line.find(mark);
        if (at == std::string::npos)
            return std::string();
        const auto begin = at + mark.size();
        return line.substr(begin, line.find_first_of(until, begin) - begin);
    };
    const auto op = behind(R"("op":")", "\"");
    const auto id = behind(R"("key":{"id":")", "\"");
    auto version = behind(R"(\"v\":)", ",}");
    version.erase(0, version.find_first_not_of(' '));
    return op == "d" ? "delete " + id
                     : fmt::format("{} {} {}", op == "c" ? "insert" : "update", id, version);
}

std::vector<std::string> changes_in(const std::filesystem::path& file) {
    std::vector<std::string> out;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        out.push_back(change_of(line));
    return out;
}

struct connector_cuts : driver_fixture {
    temp_dir folder;
    app::registry known = app::make_registry();
    runtime::reactor second{"test-reactor-2"};
    runtime::blocking_pool files{4}; // ends before the reactors it posts to
    std::unique_ptr<offset::sqlite_store> store =
        std::move(*offset::sqlite_store::open(folder.path() / "state.db"));
    std::atomic<std::size_t> made{0};

    /// A connector at work, stopped in any case.
    struct running {
        running(connector_cuts& f, const std::string& uri, const std::string& name) {
            const auto file = f.folder.path() / (name + ".yaml");
            std::ofstream(file) << fmt::format(
                "connectors: {{{0}: {{source: mongodb, mongodb.connection.string: \"{1}\", "
                "topic.prefix: t, snapshot.mode: no_data, capture.mode: change_streams, "
                "max.batch.size: 20, cursor.max.await.time.ms: 50, offset.flush.interval.ms: 50, "
                "tombstones.on.delete: false, schemas.enable: false, "
                "sinks: {{out: {{type: file, path: {0}.jsonl}}}}}}}}\n",
                name, uri);
            auto loaded = config::load(file, f.known.kinds());
            if (!loaded.result)
                throw std::runtime_error(loaded.found.mistakes().at(0).text());
            std::filesystem::remove(file);
            auto out = app::connector::make(
                loaded.result->connectors.at(0), f.known, f.made++ % 2 == 0 ? f.reactor : f.second,
                {.blocking = &f.files, .store = f.store.get(), .logger = f.logger, .changed = [] {
                 }});
            if (!out)
                throw std::runtime_error(out.error().describe());
            connector = std::move(*out);
            connector->start();
        }
        ~running() { connector->stop().get(); }

        /// Until `condition` holds for its status, or the connector failed, or a minute passed.
        template <class F>
        bool until(F condition) {
            const auto limit = std::chrono::steady_clock::now() + 60s;
            for (;;) {
                const auto status = connector->status();
                if (condition(status))
                    return true;
                if (status.error || std::chrono::steady_clock::now() > limit)
                    return false;
                std::this_thread::sleep_for(2ms);
            }
        }
        std::unique_ptr<app::connector> connector;
    };

    /// The position in front of the changes, as a first start stores it.
    event::position position_now(const std::string& uri) {
        const auto name = fmt::format("first{}", made.load());
        {
            running c(*this, uri, name);
            if (!c.until([](const auto& s) { return s.sinks.at(0).position != nullptr; }))
                throw std::runtime_error("no first position");
        }
        return std::move(*event::position::from_json(store->load(name)->at(0).position));
    }

    void put_in_front(cut_stage& stage, const std::string& name) {
        (void)store->save({{{name, "out", "server"}, stage.begin().to_json(), 1}});
    }

    message_sizes uncut(cut_stage& stage) {
        const std::array<std::size_t, 2> begin = {stage.gate.messages(gate::way::to_server).size(),
                                                  stage.gate.messages(gate::way::to_client).size()};
        message_sizes sizes;
        put_in_front(stage, "uncut");
        running c(*this, stage.uri(), "uncut");
        CHECK(c.until([](const auto& s) { return s.sinks[0].delivered == cut_stage::changes; }));
        for (const auto way : {gate::way::to_server, gate::way::to_client}) {
            const auto at = static_cast<std::size_t>(way);
            sizes[at] = stage.gate.messages(way);
            sizes[at].erase(sizes[at].begin(),
                            sizes[at].begin() + static_cast<std::ptrdiff_t>(begin[at]));
        }
        return sizes;
    }

    std::string one_cut(cut_stage& stage, const gate::cut& at, std::size_t number) {
        const auto name = fmt::format("c{}", number);
        const auto file = folder.path() / (name + ".jsonl");
        const auto before = stage.gate.cuts();
        put_in_front(stage, name);
        stage.cut_from_now(at);
        std::uint64_t earlier = 0;
        if (number % 2 == 1) {
            // Stopped as soon as the cut has happened, and started again.
            running c(*this, stage.uri(), name);
            c.until([&](const auto& s) {
                earlier = s.sinks[0].delivered;
                return stage.gate.cuts() > before || earlier == cut_stage::changes;
            });
        }
        earlier = changes_in(file).size();
        {
            running c(*this, stage.uri(), name);
            const bool all = c.until([&](const auto& s) {
                return s.sinks[0].delivered + earlier >= cut_stage::changes;
            });
            for (int idle = 0; all && stage.gate.cuts() == before; ++idle) {
                if (idle > 100)
                    return "the point of the cut was not reached";
                stage.set.append_noop();
                const auto time = stage.set.last_time();
                c.until([&](const auto& s) {
                    return s.sinks[0].position && s.sinks[0].position->cluster_time() >= time;
                });
            }
            if (!all) {
                const auto status = c.connector->status();
                return fmt::format("{} delivered, source {} {}", status.sinks[0].delivered,
                                   name_of(status), status.error ? status.error->describe() : "");
            }
        }
        const auto got = changes_in(file);
        std::filesystem::remove(file);
        if (got != stage.written())
            return fmt::format("the file has {} changes, not those that were written", got.size());
        return "";
    }

    static std::string name_of(const pipeline::pipeline_status& s) {
        return fmt::format("{} {}", source::name(s.source.state.now), s.source.state.reason);
    }
};

} // namespace

TEST_CASE("1,000 changes into a file, the connection cut at every boundary and in every message",
          "[cuts]") {
    connector_cuts f;
    std::vector<std::unique_ptr<cut_stage>> stages;
    for (std::size_t i = 0; i < stages_at_a_time; ++i)
        stages.push_back(std::make_unique<cut_stage>(
            [&f](const std::string& uri) { return f.position_now(uri); }));
    const auto run = f.uncut(*stages.front());
    REQUIRE(run[1].size() > cut_stage::changes / 20);
    std::vector<gate::cut> cuts;
    for (const auto way : {gate::way::to_server, gate::way::to_client}) {
        const auto& sizes = run[static_cast<std::size_t>(way)];
        for (std::size_t m = 0; m < sizes.size(); ++m) {
            cuts.push_back({way, m, 0});
            cuts.push_back({way, m, sizes[m] / 2});
        }
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto failures =
        for_all_cuts(stages, cuts, [&f](cut_stage& stage, const gate::cut& at, std::size_t number) {
            return f.one_cut(stage, at, number);
        });
    std::printf("%zu runs of 1,000 changes into a file: %.1f s\n", cuts.size(),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    for (const auto& failure : failures)
        FAIL_CHECK(failure);
}
