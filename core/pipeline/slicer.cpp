// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/slicer.hpp"

#include <fmt/format.h>

#include <cassert>
#include <string>
#include <string_view>

namespace cdc::pipeline {

slicer::slicer(std::vector<std::shared_ptr<encoder>> encoders, std::vector<event::position> starts,
               limits bounds)
    : encoders_(std::move(encoders))
    , starts_(std::move(starts))
    , bounds_(bounds) {
    assert(!encoders_.empty());
    for (const auto& start : starts_) {
        behind_.push_back(!start.empty());
        behind_count_ += !start.empty();
    }
}

bool slicer::lacks(std::size_t sink, std::string_view token, bool behind) const {
    return token > starts_[sink].data() || (behind && token == starts_[sink].data());
}

bool slicer::ends_catching_up(std::string_view token, bool behind) const {
    for (std::size_t i = 0; i < starts_.size(); ++i)
        if (behind_[i] && lacks(i, token, behind))
            return true;
    return false;
}

void slicer::note_catching_up(std::string_view token, bool behind) {
    for (std::size_t i = 0; i < starts_.size(); ++i)
        if (behind_[i] && lacks(i, token, behind)) {
            behind_[i] = false;
            --behind_count_;
        }
}

/// False when its record belongs into a slice of its own: nothing was done then.
bool slicer::end_transaction(std::string_view last_token,
                             std::vector<event::record_batch_builder>& builders) {
    if (behind_count_ > 0) {
        // A sink that is at the last event itself has not had the record behind it.
        if (builders.front().size() > 0 && ends_catching_up(last_token, true))
            return false;
        note_catching_up(last_token, true);
    }
    for (std::size_t i = 0; i < encoders_.size(); ++i)
        encoders_[i]->end_transaction(builders[i]);
    return true;
}

error::result<std::size_t> slicer::encode(const event::change_event& e, std::int64_t now_ms,
                                          std::vector<event::record_batch_builder>& builders) {
    const auto describe = [&e](std::string_view what) {
        return fmt::format("event of {}.{} at position {} (cluster time {}.{}): {}", e.db,
                           e.collection, token_text(e), e.cluster_time.t, e.cluster_time.i, what);
    };
    const std::size_t before = builders.front().size();
    for (std::size_t i = 0; i < encoders_.size(); ++i) {
        auto done = encoders_[i]->encode(e, now_ms, builders[i]);
        const bool agree = builders[i].size() == builders.front().size();
        if (done && agree)
            continue;
        // A failed encoder has left its builder as it was.
        for (std::size_t k = 0; k < i + (done ? 1 : 0); ++k)
            builders[k].discard_event();
        auto d = done ? error::fail(error::errc::internal,
                                    "encoders disagree about its number of records")
                      : done.error();
        d.text = describe(d.text);
        return d;
    }
    return builders.front().size() - before;
}

error::result<slicer::slice> slicer::next(const source::batch& batch, std::size_t& at,
                                          std::int64_t now_ms) {
    const auto& events = batch.events();
    std::vector<event::record_batch_builder> builders;
    builders.reserve(encoders_.size());
    for (std::size_t i = 0; i < encoders_.size(); ++i)
        builders.emplace_back(next_sequence_);
    auto positions = std::make_shared<ack_window::marks>();
    std::size_t position_bytes = 0;
    slice out;

    const auto bytes = [&builders] {
        std::size_t sum = 0;
        for (const auto& b : builders)
            sum += b.bytes();
        return sum;
    };
    while (at < events.size() && builders.front().size() < bounds_.records &&
           bytes() < bounds_.bytes) {
        const auto& e = events[at];
        if (const auto over = encoders_.front()->over_before(e); !over.empty()) {
            const std::string last{over};
            if (!end_transaction(last, builders))
                break;
        }
        if (behind_count_ > 0) {
            const auto token = token_text(e);
            if (builders.front().size() > 0 && ends_catching_up(token, false))
                break;
            note_catching_up(token, false);
        }
        auto records = encode(e, now_ms, builders);
        if (!records) {
            if (out.events == 0)
                return records.error();
            break; // what was read before it goes out first; the next call meets it again
        }
        // An event without records is safe together with what came before it.
        event::position here(e.resume_token, e.cluster_time);
        here.set_transaction(encoders_.front()->transaction());
        positions->push_back({builders.front().next_sequence() - 1, std::move(here)});
        position_bytes += sizeof(event::record_batch::mark) + 3 * e.resume_token.size();
        if (const auto& transaction = positions->back().position.transaction())
            position_bytes += transaction->size();
        ++out.events;
        ++at;
    }
    if (at == events.size() && batch.end()) {
        const std::string last{encoders_.front()->passed_by(*batch.end())};
        out.done = last.empty() || end_transaction(last, builders);
    } else {
        out.done = at == events.size();
    }
    if (out.done && batch.end()) {
        auto here = batch.end()->clone();
        here.set_transaction(encoders_.front()->transaction());
        positions->push_back({builders.front().next_sequence() - 1, std::move(here)});
    }

    if (builders.front().size() > 0) {
        auto entry = std::make_shared<queue_entry>();
        next_sequence_ = builders.front().next_sequence();
        for (auto& b : builders)
            entry->encodings.push_back(b.finish());
        entry->extra_bytes = position_bytes;
        out.entry = std::move(entry);
        out.had = behind_;
    }
    out.last = next_sequence_ - 1;
    out.positions = std::move(positions);
    return out;
}

} // namespace cdc::pipeline
