// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/cuts/cut_stage.hpp"

#include "core/bson/view.hpp"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

namespace cdc::test {

namespace {

/// With a sanitizer each run takes many times as long; what it looks for shows in a part of them.
/// Prime, so that every kind of point has its turn.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t stride = 7;
#else
constexpr std::size_t stride = 1;
#endif

} // namespace

cut_stage::cut_stage(const std::function<event::position(const std::string& uri)>& read_position) {
    set.advertise(gate.host_port());
    begin_ = read_position(uri());
    write_changes();
}

/// Few ids, so that each has a long history whose order can go wrong.
void cut_stage::write_changes() {
    std::minstd_rand random(7);
    std::set<int> alive;
    for (int version = 0; written_.size() < changes; ++version) {
        const int id = static_cast<int>(random() % 40);
        std::string command;
        if (alive.insert(id).second) {
            command = fmt::format(R"({{"insert": "c", "documents": [{{"_id": {}, "v": {}}}]}})", id,
                                  version);
            written_.push_back(fmt::format("insert {} {}", id, version));
        } else if (random() % 4 != 0) {
            command = fmt::format(
                R"({{"update": "c", "updates": [{{"q": {{"_id": {}}}, "u": {{"$set": {{"v": {}}}}}}}]}})",
                id, version);
            written_.push_back(fmt::format("update {} {}", id, version));
        } else {
            alive.erase(id);
            command = fmt::format(
                R"({{"delete": "c", "deletes": [{{"q": {{"_id": {}}}, "limit": 1}}]}})", id);
            written_.push_back(fmt::format("delete {}", id));
        }
        const auto reply = set.run_json("shop", command);
        if (!bson::find(reply, "ok")->truthy())
            throw std::runtime_error("the stand-in refused " + command);
    }
}

void cut_stage::cut_from_now(gate::cut at) {
    at.messages += gate.messages(at.way).size();
    gate.cut_at(at);
}

std::vector<gate::cut> all_cuts(const message_sizes& run) {
    std::vector<gate::cut> out;
    for (const auto way : {gate::way::to_server, gate::way::to_client}) {
        const auto& sizes = run[static_cast<std::size_t>(way)];
        for (std::size_t m = 0; m < sizes.size(); ++m) {
            out.push_back({way, m, 0, true, false});
            out.push_back({way, m, 0, false, false});
            std::set<std::size_t> inside = {1, 4, 15, 16, 17, sizes[m] / 2, sizes[m] - 1};
            for (const std::size_t bytes : inside)
                if (bytes < sizes[m])
                    out.push_back({way, m, bytes, (m + bytes) % 2 == 0, false});
        }
    }
    return out;
}

std::string describe(const gate::cut& at) {
    return fmt::format("{} behind {} messages and {} bytes {}", at.reset ? "RST" : "FIN",
                       at.messages, at.bytes,
                       at.way == gate::way::to_client ? "to the client" : "to the server");
}

std::vector<std::string> for_all_cuts(
    std::vector<std::unique_ptr<cut_stage>>& stages, const std::vector<gate::cut>& cuts,
    const std::function<std::string(cut_stage&, const gate::cut&, std::size_t number)>& one) {
    std::mutex mutex;
    std::vector<std::string> failures;
    std::atomic<std::size_t> next{0};
    const auto work = [&](cut_stage& stage) {
        for (std::size_t i = next++ * stride; i < cuts.size(); i = next++ * stride) {
            std::string wrong;
            try {
                wrong = one(stage, cuts[i], i);
            } catch (const std::exception& e) {
                wrong = e.what();
            }
            if (wrong.empty())
                continue;
            const std::lock_guard lock(mutex);
            failures.push_back(describe(cuts[i]) + ": " + wrong);
            if (failures.size() >= 10)
                return;
        }
    };
    std::vector<std::thread> threads;
    for (auto& stage : stages)
        threads.emplace_back(work, std::ref(*stage));
    for (auto& t : threads)
        t.join();
    return failures;
}

} // namespace cdc::test
