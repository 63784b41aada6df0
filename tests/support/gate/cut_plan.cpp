// SPDX-License-Identifier: Apache-2.0
#include "tests/support/gate/cut_plan.hpp"

#include <algorithm>

namespace cdc::test::gate {

std::size_t cut_plan::count(gate::way way, const lane& on) const noexcept {
    return cut_ && cut_->each_connection ? on.whole : passed(way).size();
}

bool cut_plan::at_or_behind(std::size_t whole, std::size_t in_message) const noexcept {
    return whole > cut_->messages || (whole == cut_->messages && in_message >= cut_->bytes);
}

bool cut_plan::due(gate::way way, const lane& on) const noexcept {
    if (!cut_ || cut_->way != way)
        return false;
    const std::size_t whole = count(way, on);
    const std::size_t in_message = on.meter.in_message();
    if (cut_->each_connection)
        return at_or_behind(whole, in_message);
    return whole == cut_->messages && in_message == cut_->bytes;
}

cut_plan::verdict cut_plan::next(gate::way way, lane& on, std::span<const char> bytes) {
    verdict out;
    const bool counted = way == gate::way::to_client && reset_in_.has_value();
    if (due(way, on)) {
        out = {0, true, cut_->reset};
    } else {
        out.pass = on.meter.of_this_message(bytes);
        const bool here = cut_ && cut_->way == way;
        const bool before = here && !at_or_behind(count(way, on), on.meter.in_message());
        if (before && count(way, on) == cut_->messages)
            out.pass = std::min(out.pass, cut_->bytes - on.meter.in_message());
        if (counted)
            out.pass = std::min(out.pass, *reset_in_);
        if (const auto ended = on.meter.pass(bytes.first(out.pass))) {
            ++on.whole;
            passed_[static_cast<std::size_t>(way)].push_back(*ended);
        }
        if (before && at_or_behind(count(way, on), on.meter.in_message())) {
            out.then_cut = true;
            out.reset = cut_->reset;
        }
    }
    if (out.then_cut && !cut_->each_connection)
        cut_.reset();
    if (counted) {
        *reset_in_ -= out.pass;
        if (*reset_in_ == 0 && !bytes.empty()) {
            reset_in_.reset();
            out.then_cut = out.reset = true;
        }
    }
    cuts_ += out.then_cut ? 1 : 0;
    return out;
}

} // namespace cdc::test::gate
