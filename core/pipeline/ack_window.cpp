// SPDX-License-Identifier: Apache-2.0
#include "core/pipeline/ack_window.hpp"

#include <cassert>
#include <iterator>

namespace cdc::pipeline {

ack_window::ack_window(event::position start) {
    if (!start.empty())
        safe_ = std::make_shared<const event::position>(std::move(start));
}

void ack_window::extend(std::uint64_t last, std::shared_ptr<const marks> positions) {
    assert(last >= last_);
    last_ = last;
    if (!positions || positions->empty())
        return;
    assert(positions->back().sequence <= last);
    // While a sink stands still, an idle stream goes on moving its position with empty batches.
    while (!chunks_.empty() && chunks_.back().positions->size() == 1 &&
           chunks_.back().positions->front().sequence == positions->front().sequence)
        chunks_.pop_back();
    chunks_.push_back({std::move(positions), 0});
    advance();
}

bool ack_window::acknowledge(std::uint64_t first, std::uint64_t last) {
    if (first == 0 || first > last || first <= through_ || last > last_)
        return false;
    const auto after = gaps_.upper_bound(first);
    if (after != gaps_.end() && after->first <= last)
        return false;
    const auto before = after == gaps_.begin() ? gaps_.end() : std::prev(after);
    if (before != gaps_.end() && before->second >= first)
        return false;

    acknowledged_ += last - first + 1;
    if (first == through_ + 1) {
        through_ = last;
        if (after != gaps_.end() && after->first == last + 1) {
            through_ = after->second;
            gaps_.erase(after);
        }
        advance();
        return true;
    }
    const bool joins_before = before != gaps_.end() && before->second + 1 == first;
    const bool joins_after = after != gaps_.end() && after->first == last + 1;
    const std::uint64_t end = joins_after ? after->second : last;
    if (joins_after)
        gaps_.erase(after);
    if (joins_before)
        before->second = end;
    else
        gaps_.emplace(first, end);
    return true;
}

void ack_window::advance() {
    while (!chunks_.empty()) {
        chunk& front = chunks_.front();
        const marks& all = *front.positions;
        const std::size_t begin = front.next;
        while (front.next < all.size() && all[front.next].sequence <= through_)
            ++front.next;
        if (front.next > begin) {
            const event::position& newest = all[front.next - 1].position;
            if (!safe_ || *safe_ < newest)
                safe_ = {front.positions, &newest};
        }
        if (front.next < all.size())
            return;
        chunks_.pop_front();
    }
}

std::size_t ack_window::held() const noexcept {
    std::size_t n = gaps_.size();
    for (const auto& c : chunks_)
        n += c.positions->size() - c.next;
    return n;
}

} // namespace cdc::pipeline
